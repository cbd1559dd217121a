import type { FieldError, FieldErrorReason } from '../field-error.ts';
import type { Json } from '../json.ts';
import { goQuote, goValue } from './go-text.ts';

// A Status does not list as many; who sends more must not keep others waiting (reliability P9).
const MOST_FINDINGS = 20_000;

interface Finding {
  /** What upstream compares to drop repeated findings. */
  readonly text: string;
  /** Where; undefined for findings that name the place only in their text, such as those of oneOf. */
  readonly path: string | undefined;
  readonly reason: FieldErrorReason;
  readonly message: string;
}

/** What a validation found, and how many checks it passed: upstream reports the branch of an anyOf that passed most. */
export class Report {
  readonly #findings: Finding[] = [];
  readonly #texts = new Set<string>();
  passed = 0;

  get isValid(): boolean {
    return this.#findings.length === 0;
  }

  get count(): number {
    return this.#findings.length;
  }

  /** Forgets all but the first findings. */
  cutTo(count: number): void {
    for (const { text } of this.#findings.splice(count)) this.#texts.delete(text);
  }

  add(finding: Finding): void {
    if (this.#findings.length >= MOST_FINDINGS || this.#texts.has(finding.text)) return;
    this.#texts.add(finding.text);
    this.#findings.push(finding);
  }

  merge(other: Report): void {
    for (const finding of other.#findings) this.add(finding);
    this.passed += other.passed;
  }

  invalid(path: string, value: Json, text: string): void {
    this.add({ text, path, reason: 'FieldValueInvalid', message: `Invalid value: ${goValue(value)}: ${text}` });
  }

  /** Reported without a field: oneOf, anyOf, allOf, not and number ranges. */
  composite(text: string): void {
    this.add({ text, path: undefined, reason: 'FieldValueInvalid', message: `Invalid value: "": ${text}` });
  }

  typeInvalid(path: string, expected: string, actual: string): void {
    const text = `${path} in body must be of type ${expected}: ${goQuote(actual)}`;
    this.add({
      text,
      path,
      reason: 'FieldValueTypeInvalid',
      message: `Invalid value: ${goQuote(actual)}: ${text}`,
    });
  }

  required(path: string): void {
    this.add({ text: `${path} is required`, path, reason: 'FieldValueRequired', message: 'Required value' });
  }

  notSupported(path: string, value: Json, allowed: readonly string[]): void {
    const supported = allowed.map(goQuote).join(', ');
    const message = `Unsupported value: ${goValue(value)}: supported values: ${supported}`;
    this.add({ text: `${path} should be one of ${supported}`, path, reason: 'FieldValueNotSupported', message });
  }

  tooLong(path: string, max: number): void {
    const message = `Too long: may not be more than ${max} bytes`;
    this.add({ text: `${path} at most ${max} chars`, path, reason: 'FieldValueTooLong', message });
  }

  tooMany(path: string, actual: number, max: number, what: string): void {
    const message = `Too many: ${actual}: must have at most ${max} items`;
    this.add({ text: `${path} at most ${max} ${what}`, path, reason: 'FieldValueTooMany', message });
  }

  /** `base` is the path of the validated value; undefined for a whole object. */
  fieldErrors(base: string | undefined): readonly FieldError[] {
    return this.#findings.map(({ path, reason, message }) => ({ reason, field: fieldOf(base, path), message }));
  }
}

function fieldOf(base: string | undefined, path: string | undefined): string {
  const name = path?.startsWith('.') ? path.slice(1) : (path ?? '');
  if (name === '') return base ?? '<nil>';
  return base === undefined ? name : `${base}.${name}`;
}
