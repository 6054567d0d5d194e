/** The dialog that reads a stream again: mended, or through a JSON Schema. */

import { byId, showText } from "./dom.js";

export class ReadDialog {
  constructor({ onRun }) {
    this.dialog = byId("read-dialog");
    byId("read-run").addEventListener("click", async () => {
      try {
        await onRun({ mend: byId("read-mend").checked, schema: parseSchema(byId("read-schema").value) });
        this.dialog.close();
      } catch (error) {
        showText(byId("read-problem"), error.message);
      }
    });
  }

  open({ mend }) {
    byId("read-mend").checked = mend;
    showText(byId("read-problem"));
    this.dialog.showModal();
  }
}

function parseSchema(text) {
  if (!text.trim()) return null;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`the schema is no JSON: ${error.message}`);
  }
}
