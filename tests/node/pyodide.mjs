// Runs tests/pyodide_checks.py in Pyodide, a CPython for browsers: the pure build, straight from the source.
// The repository is mounted; nothing is downloaded, because the npm package has all of the standard library.
import { fileURLToPath } from "node:url";
import { loadPyodide } from "pyodide";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));

const python = await loadPyodide({
  env: { HOME: "/", PYTHONDONTWRITEBYTECODE: "1", PYTHONPATH: "/repository/src:/repository" },
  fsInit: async (FS) => {
    FS.mkdir("/repository");
    FS.mount(FS.filesystems.NODEFS, { root: REPOSITORY }, "/repository");
  },
});
try {
  python.runPython("from tests.pyodide_checks import main; main()");
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
