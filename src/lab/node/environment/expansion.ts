/** `$$`, or a reference with its closing bracket; a name may hold anything but that bracket. */
const REFERENCE = /\$(?:\$|\(([^)]*)\))/g;

/**
 * Replaces each `$(NAME)` by its value (N24). A name without a value stays as it is written, `$$` becomes `$`, a `$`
 * before anything else and a `$(` that nothing closes are plain text. Values are not looked at again.
 */
export function expanded(text: string, valueOf: (name: string) => string | undefined): string {
  // Behind the last bracket nothing can be closed: searching there for every `$(` would take time by the square.
  const end = text.lastIndexOf(')') + 1;
  const head = text.slice(0, end).replace(REFERENCE, (whole, name: string | undefined) => {
    if (name === undefined) return '$';
    return valueOf(name) ?? whole;
  });
  return head + text.slice(end).replaceAll('$$', () => '$');
}
