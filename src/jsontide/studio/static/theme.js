/** Dark or light: as the system has it, until the reader chooses. */

const root = document.documentElement;
const KEY = "jsontide-studio-theme";

export function startTheme(button) {
  const chosen = localStorage.getItem(KEY);
  if (chosen) root.dataset.theme = chosen;
  button.addEventListener("click", () => {
    const isDark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
    localStorage.setItem(KEY, root.dataset.theme);
  });
}
