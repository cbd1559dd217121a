import { type LocatedYaml, parseLocatedYaml } from '../../object/yaml.ts';

const ACTION = /\{\{[^]*?\}\}/g;
const CONTROL = /^(?<indent>[ \t]*)\{\{-?\s*(?:if\b[^{}]*|else|end)\s*-?\}\}[ \t]*$/gm;

/**
 * A template as YAML with everything where it was: values become words of the same length, and lines that only decide become
 * comments, which are text like any other inside of a script. Undefined for what is still no YAML.
 */
export function located(text: string): LocatedYaml | undefined {
  const plain = text
    .replaceAll(CONTROL, (line, indent: string) => `${indent}#${'x'.repeat(line.length - indent.length - 1)}`)
    .replaceAll(ACTION, (action) => action.replaceAll(/[^\n]/g, 'x'));
  try {
    return parseLocatedYaml(plain);
  } catch {
    // Whoever renders it says what is wrong; here it only has no places.
    return undefined;
  }
}
