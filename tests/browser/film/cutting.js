// Runs in an empty page: puts the window and the terminal together, and cuts out what has changed.
globalThis.cutting = (width, height, strip) => {
  const canvas = new OffscreenCanvas(width, height + strip);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  let before = null;

  const terminal = (lines) => {
    context.fillStyle = "#16171c";
    context.fillRect(0, height, width, strip);
    context.font = "14px 'DejaVu Sans Mono', 'Liberation Mono', monospace";
    context.textBaseline = "middle";
    lines.forEach(([colour, text], index) => {
      context.fillStyle = colour;
      context.fillText(text, 18, height + 23 + index * 23);
    });
  };

  const changed = (now) => {
    if (!before) return { x: 0, y: 0, width, height: height + strip };
    let [left, top, right, bottom] = [width, height + strip, -1, -1];
    for (let at = 0; at < now.length; at += 1) {
      if (now[at] === before[at]) continue;
      const x = at % width;
      const y = (at - x) / width;
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y);
    }
    if (right < 0) return null;
    left -= left % 2;
    top -= top % 2;
    return { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
  };

  const text = async (blob) => {
    let found = "";
    for (const byte of new Uint8Array(await blob.arrayBuffer())) found += String.fromCharCode(byte);
    return btoa(found);
  };

  return async (shot, lines, quality) => {
    const bytes = Uint8Array.from(atob(shot), (letter) => letter.charCodeAt(0));
    context.drawImage(await createImageBitmap(new Blob([bytes])), 0, 0, width, height);
    terminal(lines);
    const pixels = new Uint32Array(context.getImageData(0, 0, width, height + strip).data.buffer);
    const box = changed(pixels);
    before = pixels;
    if (!box) return null;
    const part = new OffscreenCanvas(box.width, box.height);
    part.getContext("2d").drawImage(canvas, -box.x, -box.y);
    return { ...box, picture: await text(await part.convertToBlob({ type: "image/webp", quality })) };
  };
};
