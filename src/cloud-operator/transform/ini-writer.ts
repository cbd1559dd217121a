import { findSection, goTrim, type IniFile, UNNAMED } from './ini-file.ts';
import { printIni } from './ini-print.ts';
import { parseIni } from './ini-reader.ts';
import { cloudConfigProblem } from './problem.ts';

/** Text that {@link parseIni} reads as the same file. */
export function printIniFile({ sections }: IniFile): string {
  const [unnamed, ...named] = sections.map(({ name, comments, keys }) => ({
    header: name,
    comments: comments.map(printedComment),
    lines: [...keys].map(([key, { value, comments: above, isCounted }]) => ({
      comments: above.map(printedComment),
      key: isCounted ? '-' : printedName(key),
      value: printedValue(key, value),
      // Upstream makes room for the number.
      ...(isCounted && { width: key.length }),
    })),
  }));
  if (unnamed === undefined) return '';
  const { comments, lines } = unnamed;
  // Without keys there is nothing that a blank line would have to be put behind.
  if (lines.length === 0) return comments.map((line) => `${line}\n`).join('') + printIni(named);
  return printIni([{ comments, lines }, ...named]);
}

const printedComment = (line: string): string => `${line[0]} ${goTrim(line.slice(1))}`;

/** The first of some ways to write a text that is read as what it is. */
function firstReadable(forms: readonly string[], isSame: (form: string) => boolean): string | undefined {
  return forms.find((form) => {
    try {
      return isSame(form);
    } catch {
      return false;
    }
  });
}

function printedName(name: string): string {
  const usual = /["=:]/.test(name) ? `\`${name}\`` : name.includes('`') ? `"""${name}"""` : name;
  const forms = [usual, `\`${name}\``, `"""${name}"""`, `"${name}"`, name];
  const form = firstReadable(forms, (text) => {
    const keys = findSection(parseIni(`${text} = x\n`), UNNAMED)?.keys;
    return keys?.get(name)?.value === 'x' && keys.get(name)?.isCounted === false;
  });
  if (form === undefined) throw cloudConfigProblem(`the key ${name} cannot be written to a cloud.conf`);
  return form;
}

function printedValue(key: string, value: string): string {
  const forms = [usualForm(value), `"""${value}"""`, `\`${value}\``, `'${value}'`, `"${value}"`];
  const form = firstReadable(forms, (text) => {
    const { sections } = parseIni(`a = ${text}\nb = x\n`);
    const [a, b] = ['a', 'b'].map((name) => sections[0]?.keys.get(name));
    return sections[0]?.keys.size === 2 && a?.value === value && b?.value === 'x' && b.comments.length === 0;
  });
  if (form === undefined) throw cloudConfigProblem(`the value of ${key} cannot be written to a cloud.conf`);
  return form;
}

function usualForm(value: string): string {
  if (/[\n`]/.test(value)) return `"""${value}"""`;
  if (/[#;]/.test(value)) return `\`${value}\``;
  return goTrim(value) === value ? value : `"${value}"`;
}
