export type Variables = Map<string, unknown>;

const VARIABLE = /\$\{(\w+)(?:([+-])(\d+))?\}/g;

/** A copy with every `${name}` replaced; `${rv-1}` calculates. A text that is only a variable keeps its type. */
export function fill<T>(value: T, variables: Variables): T;
export function fill(value: unknown, variables: Variables): unknown {
  if (typeof value === 'string') return fillText(value, variables);
  if (Array.isArray(value)) return value.map((item: unknown) => fill(item, variables));
  if (typeof value !== 'object' || value === null) return value;
  // Lays objects over each other, for a part that a variable holds.
  if ('$merge' in value && Array.isArray(value.$merge)) return Object.assign({}, ...fill(value.$merge, variables));
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [String(fillText(key, variables)), fill(member, variables)]),
  );
}

function fillText(text: string, variables: Variables): unknown {
  const [whole] = text.matchAll(VARIABLE);
  if (whole?.[0] === text) return resolve(whole, variables);
  return text.replace(VARIABLE, (...match: unknown[]) => String(resolve(match.slice(0, 4), variables)));
}

function resolve([, name, sign, offset]: readonly unknown[], variables: Variables): unknown {
  if (!variables.has(String(name))) throw new Error(`no variable is called ${String(name)}`);
  const value = variables.get(String(name));
  if (sign === undefined) return value;
  return String(BigInt(String(value)) + (sign === '-' ? -1n : 1n) * BigInt(String(offset)));
}
