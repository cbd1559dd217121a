import type { Capabilities } from '../capabilities/capabilities.ts';
import { PROVIDER_DEFINITION } from './brand.ts';
import {
  bound,
  type CapabilityCopy,
  capabilityCopies,
  meantNames,
  readField,
  unreadableField,
} from './capability-copy.ts';
import { CONTROLLER_CAPABILITY, crossProblems } from './cross-checks.ts';
import { DefinitionError, type DefinitionProblem } from './definition-error.ts';
import { frozenCopy } from './frozen-copy.ts';
import { plainCopy } from './plain-copy.ts';
import type { ControllerAlias, ProviderDefinition, ProviderInput } from './provider-definition.ts';
import { providerIdFormat } from './provider-id-checks.ts';
import {
  callable,
  flag,
  found,
  listOf,
  matching,
  type Note,
  oneOf,
  optional,
  record,
  repeatedText,
  required,
  type Shape,
  setOf,
  text,
  textMap,
  whole,
  wrongKind,
} from './shape.ts';
import { defaultClusterKey, tagRules } from './tag-checks.ts';

/** `<name>-cloud-controller-manager` is a namespace, a Service and the tag of an image: at most 63 characters. */
const LONGEST_NAME = 63 - '-cloud-controller-manager'.length;
/** What kubelets, and OpenShift, call every cloud that they do not know. */
const NOBODY = 'external';

const name: Shape = (value, path, note) => {
  if (value === NOBODY) {
    return note({
      path,
      code: 'SW2114',
      message: `${path} must not be "${NOBODY}": clusters call every cloud so that they do not know`,
      hint: 'write the name of your cloud',
    });
  }
  const isName = typeof value === 'string' && /^[a-z]([a-z0-9-]*[a-z0-9])?$/.test(value);
  if (isName && value.length <= LONGEST_NAME) return;
  const label = typeof value === 'string' ? value.toLowerCase().replace(/[^a-z0-9]+/g, '-') : '';
  const better = label.replace(/^[^a-z]+|-+$/g, '').slice(0, LONGEST_NAME);
  note({
    path,
    code: 'SW2114',
    message: `${path} must be at most ${LONGEST_NAME} lower-case letters, digits and '-', beginning with a letter and ending without '-', not ${found(value)}`,
    hint: better === '' ? "write a name such as 'acme'" : `write '${better}'`,
    why: 'names of objects, folders and images are made of it',
  });
};

const SECRET_HINT = "write the name of the variable, such as 'ACME_TOKEN', and never its value";

const secretName: Shape = (value, path, note) => {
  if (typeof value === 'string' && /^[A-Za-z_][A-Za-z0-9_]*$/.test(value)) return;
  note({
    path,
    code: 'SW2122',
    message: `${path} must be the name of an environment variable: letters, digits and '_', not beginning with a digit`,
    hint: SECRET_HINT,
  });
};

/** No value is ever shown: it may be the secret itself. */
const secretNames: Shape = (value, path, note) => {
  const wrong = (message: string, hint: string): void => note({ path, code: 'SW2122', message, hint });
  if (!Array.isArray(value)) return wrong(`${path} must be a list of names of environment variables`, SECRET_HINT);
  listOf(secretName)(value, path, note);
  if (repeatedText(value) !== undefined) wrong(`${path} lists a name twice`, 'leave the second one out');
};

type Part<Key extends keyof ProviderInput<unknown>> = NonNullable<ProviderInput<unknown>[Key]>;

/** Its methods are checked where they still are the author's own. */
const anything: Shape = () => {};

const definition = record<ProviderInput<unknown>>({
  name: required(name, "write a name such as 'acme'"),
  displayName: required(text, "write the name for people, such as 'Acme Cloud'"),
  platformName: optional(text),
  architectures: required(
    setOf(oneOf('amd64', 'arm64', 'ppc64le', 's390x'), { fewest: 1 }),
    "write architectures: ['amd64']",
  ),
  providerID: required(providerIdFormat, 'say how the provider IDs of machines look: scheme, format and pattern'),
  tags: optional(tagRules),
  coreos: optional(
    record<Part<'coreos'>>({
      streamArtifact: required(text),
      format: required(text),
      platformId: required(matching(/^[a-z0-9-]+$/, "lower-case letters, digits and '-'")),
      userDataLimitBytes: optional(whole(1)),
    }),
  ),
  ingress: optional(
    record<Part<'ingress'>>({
      strategy: required(oneOf('HostNetwork', 'LoadBalancerService', 'NodePortService')),
    }),
  ),
  storage: optional(
    record<Part<'storage'>>({
      defaultClass: required(
        record<Part<'storage'>['defaultClass']>({
          name: required(
            matching(
              /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/,
              "a name of Kubernetes: lower-case letters, digits, '-' and '.'",
            ),
          ),
          parameters: optional(textMap),
        }),
      ),
    }),
  ),
  ccm: optional(
    record<Part<'ccm'>>({
      external: required(flag),
      controllers: optional(setOf(oneOf(...Object.keys(CONTROLLER_CAPABILITY)))),
    }),
  ),
  secrets: optional(secretNames),
  connect: required(callable, 'write connect(context) { return { client, clusterId }; }'),
  capabilities: required(anything, 'say what the cloud can do: capabilities: { instances }'),
});

/**
 * Checks a definition and freezes it, with everything that was left out filled in. Does no I/O; calls `declare()` of every
 * capability once.
 *
 * @throws DefinitionError with everything that is wrong at once, and nothing else.
 */
export function defineProvider<Client>(input: ProviderInput<Client>): ProviderDefinition<Client> {
  const problems: DefinitionProblem[] = [];
  const note: Note = (problem) => problems.push(Object.freeze(problem));
  const { fields, capabilities } = checked(input, note);
  if (problems.length > 0) throw new DefinitionError(problems);
  // Everything that the type says has just been checked.
  return completed(fields as unknown as ProviderInput<Client>, input, capabilities);
}

interface Checked {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly capabilities: Readonly<Record<string, CapabilityCopy>>;
}

const NOTHING: Checked = { fields: {}, capabilities: {} };

/** Reads and checks; whatever an object does that fights back, it ends as a problem. */
function checked(input: unknown, note: Note): Checked {
  try {
    const fields = read(input, note);
    if (fields === undefined) return NOTHING;
    definition(fields, '', note);
    const given = fields['capabilities'];
    const capabilities = given === undefined ? {} : capabilityCopies(given, note);
    for (const problem of crossProblems(fields, [...Object.keys(capabilities), ...meantNames(given)]))
      note(problem);
    return { fields, capabilities };
  } catch {
    note(unreadableField('', 'holds something that throws when it is looked at'));
    return NOTHING;
  }
}

/** A copy of everything but the capabilities, which are objects of the author; undefined when it is no object at all. */
function read(input: unknown, note: Note): Readonly<Record<string, unknown>> | undefined {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    note({ ...wrongKind('', 'an object', input), message: `a definition must be an object, not ${found(input)}` });
    return undefined;
  }
  const getters = fieldNames(input).map(
    (key) => [key, { enumerable: true, get: () => Reflect.get(input, key) as unknown }] as const,
  );
  const own = getters.filter(([key]) => key !== 'capabilities');
  const { value, unreadable } = plainCopy(Object.defineProperties({}, Object.fromEntries(own)));
  for (const { path, trouble } of unreadable) note(unreadableField(path, trouble));
  const capabilities = readField(input, 'capabilities', 'capabilities', note);
  // A copy of a plain object is one.
  const fields = value as Readonly<Record<string, unknown>>;
  return { ...fields, ...(capabilities !== undefined && { capabilities }) };
}

/** Its own, and what a class may have given it. */
const fieldNames = (input: object): readonly string[] => [
  ...new Set([...Object.keys(input), ...['connect'].filter((key) => key in input)]),
];

function completed<Client>(
  fields: ProviderInput<Client>,
  input: ProviderInput<Client>,
  capabilities: Readonly<Record<string, CapabilityCopy>>,
): ProviderDefinition<Client> {
  const has = (alias: ControllerAlias): boolean => Object.hasOwn(capabilities, CONTROLLER_CAPABILITY[alias]);
  const aliases = Object.keys(CONTROLLER_CAPABILITY) as readonly ControllerAlias[];
  const whole = frozenCopy({
    ...fields,
    platformName: fields.platformName ?? fields.name,
    tags: { clusterKey: defaultClusterKey, ...fields.tags },
    ccm: { external: true, controllers: aliases.filter(has), ...fields.ccm },
    secrets: fields.secrets ?? [],
    connect: bound(Reflect.get(fields, 'connect') as ProviderInput<Client>['connect'], input),
    capabilities: capabilities as unknown as Capabilities,
  });
  // Not enumerable: a spread copy of a definition has not been checked.
  const branded = Object.defineProperty({ ...whole }, PROVIDER_DEFINITION, { value: true });
  return Object.freeze(branded) as unknown as ProviderDefinition<Client>;
}
