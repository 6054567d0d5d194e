/** A file that is dropped anywhere onto the page. */

export function startDrop(overlay, onFile) {
  let depth = 0; // of elements that the pointer is in
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  const show = (by) => {
    depth = Math.max(0, depth + by);
    overlay.hidden = depth === 0;
  };
  addEventListener("dragenter", (event) => hasFiles(event) && show(1));
  addEventListener("dragleave", (event) => hasFiles(event) && show(-1));
  addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
  addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    show(-depth);
    const [file] = event.dataTransfer.files;
    if (file) onFile(file);
  });
}
