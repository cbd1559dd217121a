import { labelValueProblems, nameRules, qualifiedNameProblems } from '../../object/names.ts';
import { formatCheck } from '../../object/validation/formats.ts';
import { OpaqueValue } from './equality.ts';
import { global, member, type Overload } from './function.ts';
import { parseUrl } from './go-url.ts';
import { listOf, objectType, optionalOf, STRING } from './type.ts';
import { CelList, Optional, sizeOf } from './value.ts';

const NAME = 'kubernetes.NamedFormat';

/** A format of Kubernetes names and texts; `problems` is empty when a text has it. */
class NamedFormat extends OpaqueValue {
  readonly typeName = NAME;
  readonly name: string;
  readonly problems: (text: string) => readonly string[];
  /** What a pattern of that length would cost. */
  readonly patternSize: number;
  constructor(name: string, patternSize: number, problems: NamedFormat['problems']) {
    super();
    this.name = name;
    this.patternSize = patternSize;
    this.problems = problems;
  }

  equals(other: this): boolean {
    return this.name === other.name;
  }
}

const FORMAT = objectType<NamedFormat>(NAME);

const checked =
  (format: string, problem: string) =>
  (text: string): readonly string[] =>
    formatCheck(format)?.(text) === true ? [] : [problem];

function uriProblems(text: string): readonly string[] {
  const url = parseUrl(text);
  return typeof url === 'string' ? [url] : [];
}

const { dnsLabel, dnsSubdomain, dns1035Label } = nameRules;

const FORMATS: ReadonlyMap<string, NamedFormat> = new Map(
  [
    new NamedFormat('dns1123Label', 30, (text) => dnsLabel(text, false)),
    new NamedFormat('dns1123Subdomain', 60, (text) => dnsSubdomain(text, false)),
    new NamedFormat('dns1035Label', 30, (text) => dns1035Label(text, false)),
    new NamedFormat('qualifiedName', 60, qualifiedNameProblems),
    new NamedFormat('dns1123LabelPrefix', 30, (text) => dnsLabel(text, true)),
    new NamedFormat('dns1123SubdomainPrefix', 60, (text) => dnsSubdomain(text, true)),
    new NamedFormat('dns1035LabelPrefix', 30, (text) => dns1035Label(text, true)),
    new NamedFormat('labelValue', 40, labelValueProblems),
    new NamedFormat('uri', 1103, uriProblems),
    new NamedFormat('uuid', 90, checked('uuid', 'does not match the UUID format')),
    new NamedFormat('byte', 84, checked('byte', 'invalid base64')),
    new NamedFormat('date', 100, checked('date', 'invalid date')),
    new NamedFormat('datetime', 100, checked('datetime', 'invalid datetime')),
  ].map((format) => [format.name, format]),
);

export const formats: readonly Overload[] = [
  ...[...FORMATS].map(([name, format]) => global(`format.${name}`, [], FORMAT, { call: () => format })),
  global('format.named', [STRING], optionalOf(FORMAT), {
    call: (name) => {
      const format = FORMATS.get(name);
      return format === undefined ? Optional.none : new Optional(format);
    },
  }),
  member('validate', [FORMAT, STRING], optionalOf(listOf(STRING)), {
    call: (format, text) => {
      const problems = format.problems(text);
      return problems.length === 0 ? Optional.none : new Optional(new CelList(problems));
    },
    cost: ([format = null, text = null]) =>
      Math.ceil((1 + sizeOf(text)) * 0.1) *
      Math.ceil((format instanceof NamedFormat ? format.patternSize : 1) * 0.25),
  }),
];
