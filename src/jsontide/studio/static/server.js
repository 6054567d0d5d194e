/** Requests to the studio's server. The token is in the address of the page, and goes along as a header. */

const token = new URLSearchParams(location.search).get("token") ?? "";
const headers = { "x-studio-token": token };

/** An answer that says what is wrong. */
export class Refused extends Error {}

async function read(response) {
  if (response.ok) return response.json();
  const text = await response.text();
  let said;
  try {
    said = JSON.parse(text).error;
  } catch {
    said = text.trim();
  }
  throw new Refused(said || `the studio answered ${response.status}`);
}

/** Ask for a view; parameters that are undefined are left out, and arrays go as JSON. */
export async function ask(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) query.set(name, typeof value === "object" ? JSON.stringify(value) : value);
  return read(await fetch(`${path}?${query}`, { headers }));
}

export async function post(path, body) {
  return read(await fetch(path, { method: "POST", headers, body }));
}

/** Where something is, for elements and commands that cannot send a header. */
export function address(path, parameters = {}) {
  return `${path}?${new URLSearchParams({ ...parameters, token })}`;
}

export const options = { headers };
