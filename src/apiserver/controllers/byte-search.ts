/** Whether bytes hold a text: much cheaper than parsing, for objects that most likely do not. */
export function contains(bytes: Uint8Array, text: string): boolean {
  const view = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return view.includes(text);
}
