const RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

const SEQUENCES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};
const MEANINGS: ReadonlyMap<string, string> = new Map(
  Object.entries(SEQUENCES).map(([text, name]) => [name, text]),
);

/** The identifier by which rules name a property (X25); `undefined` when they cannot. */
export function escapeName(name: string): string | undefined {
  if (/^[a-zA-Z_][a-zA-Z0-9]*$/.test(name)) return RESERVED.has(name) ? `__${name}__` : name;
  if (!/^[a-zA-Z_./-][a-zA-Z0-9_./-]*$/.test(name)) return undefined;
  return name.replace(/__|[-./]/g, (part) => SEQUENCES[part] ?? part);
}

/** The property an identifier names; `undefined` for a sequence that means nothing. */
export function unescapeName(identifier: string): string | undefined {
  if (!identifier.includes('__')) return identifier;
  let isValid = true;
  const name = identifier.replace(/__[^_]+__/g, (sequence) => {
    const meaning = MEANINGS.get(sequence);
    if (meaning !== undefined) return meaning;
    const word = sequence.slice(2, -2);
    isValid = RESERVED.has(word) && sequence === identifier;
    return word;
  });
  return isValid ? name : undefined;
}
