// jsonrepair, plain and streaming: one task per line in, one answer per line out, as benchmarks/mend_peers/tools.py says.
// Values go back as text, because numbers of JavaScript are not those of JSON.
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'

const [, , packages, tool] = process.argv
const load = (...path) => import(pathToFileURL(join(packages, 'jsonrepair', 'lib', 'esm', ...path)).href)
const { jsonrepair } = await load('index.js')
const { jsonrepairCore } = await load('streaming', 'core.js')

function attempt(read) {
  try {
    return { end: [read()], error: '' }
  } catch (error) {
    return { end: [], error: error.name }
  }
}

function plain(chunks) {
  let text = ''
  const steps = chunks.map((chunk) => {
    text += chunk
    return attempt(() => jsonrepair(text)).end
  })
  return { steps, ...attempt(() => jsonrepair(text)) }
}

// The core behind `jsonrepairTransform`, with its default sizes; the transform itself adds only events.
function streaming(chunks) {
  let output = ''
  const core = jsonrepairCore({ onData: (text) => { output += text } })
  const steps = []
  const whole = attempt(() => {
    for (const chunk of chunks) {
      core.transform(chunk)
      steps.push([output])
    }
    core.flush()
    return output
  })
  while (steps.length < chunks.length) steps.push([output])
  return { steps, ...whole }
}

const tools = { plain, streaming }
process.stdout.write('{}\n')
for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(tools[tool](JSON.parse(line).chunks))}\n`)
}
