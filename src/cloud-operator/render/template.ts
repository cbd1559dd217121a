import { terminalError } from '../../base/errors.ts';

/** What a template may name: text, or more values under a name, as `.images.CloudControllerManager` has it. */
export interface TemplateValues {
  readonly [name: string]: string | TemplateValues;
}

/** A text that was understood. */
export interface Template {
  /** Throws for a value that is not there (R23): an empty text would go unnoticed until pods fail. */
  render(values: TemplateValues): string;
}

interface Place {
  /** `.images.Operator` without its first dot, part by part. */
  readonly path: readonly string[];
  readonly line: number;
}

type Part =
  | { readonly type: 'text'; readonly text: string }
  | ({ readonly type: 'value' } & Place)
  | ({ readonly type: 'if'; readonly filled: Part[]; readonly empty: Part[] } & Place);

/** An `if` that has not come to its end. */
interface Open {
  readonly branch: Part & { readonly type: 'if' };
  isElse: boolean;
}

/** Markers trim only next to a space: in Go `{{-3}}` is a number. */
const ACTION = /\{\{(?<before>-(?=\s))?(?<body>[^]*?)(?<after>(?<=\s)-)?\}\}/g;
const VALUE = /^(?:\.[A-Za-z_]\w*)+$/;
const IF = /^if\s+(?<value>\S+)$/;

/**
 * The part of Go's text/template that manifests need: `{{ .a.b }}`, `{{ if .x }}`, `{{ else }}`, `{{ end }}` and the marks
 * that trim white space. Throws for everything else, with file and line.
 */
export function compileTemplate(text: string, file: string): Template {
  const parts = new TemplateParser(text, file).parse();
  return { render: (values) => renderParts(parts, values, file) };
}

class TemplateParser {
  readonly #text: string;
  readonly #file: string;
  readonly #parts: Part[] = [];
  readonly #open: Open[] = [];

  constructor(text: string, file: string) {
    this.#text = text;
    this.#file = file;
  }

  parse(): readonly Part[] {
    let end = 0;
    let isTrimmed = false;
    for (const match of this.#text.matchAll(ACTION)) {
      const { before, body = '', after } = match.groups ?? {};
      this.#addText(end, match.index, { start: isTrimmed, end: before !== undefined });
      this.#addAction(body.trim(), match.index);
      end = match.index + match[0].length;
      isTrimmed = after !== undefined;
    }
    this.#addText(end, this.#text.length, { start: isTrimmed, end: false });
    const unclosed = this.#open.at(-1);
    if (unclosed !== undefined) throw this.#problem(unclosed.branch.line, 'this if has no end');
    return this.#parts;
  }

  #addText(from: number, to: number, trimmed: { readonly start: boolean; readonly end: boolean }): void {
    let text = this.#text.slice(from, to);
    const left = text.indexOf('{{');
    if (left >= 0) throw this.#problem(this.#lineAt(from + left), 'an action has no closing braces');
    if (trimmed.start) text = text.replace(/^[ \t\r\n]+/, '');
    if (trimmed.end) text = text.replace(/[ \t\r\n]+$/, '');
    if (text !== '') this.#target().push({ type: 'text', text });
  }

  #addAction(body: string, at: number): void {
    const line = this.#lineAt(at);
    const condition = IF.exec(body)?.groups?.['value'] ?? '';
    if (VALUE.test(body)) this.#target().push({ type: 'value', path: pathOf(body), line });
    else if (VALUE.test(condition)) this.#begin({ path: pathOf(condition), line });
    else if (body === 'else') this.#turn(line);
    else if (body === 'end') this.#close(line);
    else throw this.#problem(line, `{{ ${body} }} is not supported; use {{ .name }}, if, else and end only`);
  }

  #begin(place: Place): void {
    const branch: Open['branch'] = { type: 'if', filled: [], empty: [], ...place };
    this.#target().push(branch);
    this.#open.push({ branch, isElse: false });
  }

  #turn(line: number): void {
    const open = this.#open.at(-1);
    if (open === undefined || open.isElse) throw this.#problem(line, 'this else belongs to no if');
    open.isElse = true;
  }

  #close(line: number): void {
    if (this.#open.pop() === undefined) throw this.#problem(line, 'this end belongs to no if');
  }

  #target(): Part[] {
    const open = this.#open.at(-1);
    if (open === undefined) return this.#parts;
    return open.isElse ? open.branch.empty : open.branch.filled;
  }

  #lineAt(offset: number): number {
    return this.#text.slice(0, offset).split('\n').length;
  }

  #problem(line: number, message: string): Error {
    return terminalError('InvalidTemplate', `${this.#file}:${line}: ${message}`);
  }
}

const pathOf = (reference: string): readonly string[] => reference.slice(1).split('.');

const renderParts = (parts: readonly Part[], values: TemplateValues, file: string): string =>
  parts.map((part) => renderPart(part, values, file)).join('');

function renderPart(part: Part, values: TemplateValues, file: string): string {
  if (part.type === 'text') return part.text;
  const value = valueAt(part, values, file);
  if (part.type === 'if') return renderParts(isFull(value) ? part.filled : part.empty, values, file);
  if (typeof value === 'string') return value;
  throw terminalError('InvalidTemplate', `${file}:${part.line}: .${part.path.join('.')} is not a text`);
}

/** As in Go: the text `false` is there, and so are values of which there is at least one. */
const isFull = (value: string | TemplateValues): boolean =>
  typeof value === 'string' ? value !== '' : Object.keys(value).length > 0;

function valueAt({ path, line }: Place, values: TemplateValues, file: string): string | TemplateValues {
  let found: string | TemplateValues | undefined = values;
  for (const name of path) {
    found = typeof found === 'object' && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  if (found !== undefined) return found;
  throw terminalError('MissingTemplateValue', `${file}:${line}: there is no value .${path.join('.')}`);
}
