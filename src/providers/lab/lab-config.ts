import { z } from 'zod';
import { messageOf } from '../../base/errors.ts';
import { nearestWord } from '../../object/nearest-word.ts';
import { isRecord } from '../../object/record.ts';
import { parseYaml } from '../../object/yaml.ts';
import type { ConnectContext } from '../../sdk/provider/provider-definition.ts';
import { ProviderError } from '../../sdk/provider/provider-error.ts';

/** Variables that may hold the credential instead of the file; the file wins. */
export const LAB_SECRETS = { clientId: 'LAB_CLIENT_ID', clientSecret: 'LAB_CLIENT_SECRET' } as const;

const text = (rule: string) => z.string(rule).min(1, rule);

const configSchema = z.strictObject({
  endpoint: z
    .string('must be a URL')
    .refine(isEndpoint, 'must be a URL with http or https, without credentials, such as http://127.16.0.2:8080')
    .transform((url) => url.replace(/\/+$/, '')),
  clientId: text('must be a text'),
  clientSecret: text('must be a text'),
  // Becomes part of the key of a tag, of which the lab takes 128 characters.
  clusterId: z
    .string('must be a text')
    .regex(/^[A-Za-z0-9][-A-Za-z0-9_.]{0,62}$/, 'must be 1 to 63 letters, digits, dashes, dots or underscores')
    .optional(),
  region: text('must be a text').optional(),
});

/** How to reach a lab cloud, and for whom. */
export type LabConfig = z.output<typeof configSchema>;

const FIELDS = Object.keys(configSchema.shape);
/** Where else a field can come from. */
const SECRET_OF: Readonly<Record<string, string | undefined>> = LAB_SECRETS;

/** What the file of `--cloud-config` and the variables say. Refuses with the field that is wrong, and never shows a value. */
export function labConfig(context: Pick<ConnectContext, 'config' | 'secret'>): LabConfig {
  const secrets = Object.entries(LAB_SECRETS).map(([field, name]) => [field, context.secret(name)] as const);
  const fromSecrets = Object.fromEntries(secrets.filter(([, value]) => value !== undefined && value !== ''));
  const given: Readonly<Record<string, unknown>> = { ...fromSecrets, ...fieldsIn(context.config) };
  const parsed = configSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw refused(issue === undefined ? 'cannot be used' : problemIn(issue, given));
}

function fieldsIn(config: string | undefined): Readonly<Record<string, unknown>> {
  if (config === undefined) return {};
  const value = documentIn(config) ?? {};
  if (isRecord(value)) return value;
  throw refused(`must be a map with ${FIELDS.join(', ')}`);
}

function documentIn(config: string): unknown {
  try {
    return parseYaml(config);
  } catch (error) {
    // What the parser says may quote the file, and with it the secret.
    const [place] = /at line \d+, column \d+/.exec(messageOf(error)) ?? [];
    throw refused(`is no YAML that can be read${place === undefined ? '' : `: look ${place}`}`);
  }
}

function problemIn(issue: z.core.$ZodIssue, given: Readonly<Record<string, unknown>>): string {
  if (issue.code === 'unrecognized_keys') {
    const [stranger = ''] = issue.keys;
    const meant = nearestWord(stranger, FIELDS);
    return `${stranger}: is unknown: ${meant === undefined ? `known are ${FIELDS.join(', ')}` : `did you mean ${meant}?`}`;
  }
  const field = issue.path.join('.');
  if (Object.hasOwn(given, field)) return `${field}: ${issue.message}`;
  const secret = SECRET_OF[field];
  return `${field}: is missing: ${secret === undefined ? 'write it into the file of --cloud-config' : `write it there or set ${secret}`}`;
}

const refused = (problem: string): ProviderError =>
  new ProviderError('invalid', `the cloud configuration of the lab provider: ${problem}`);

/** Credentials in the URL would end up in messages. */
function isEndpoint(endpoint: string): boolean {
  if (!URL.canParse(endpoint)) return false;
  const { protocol, username, password, search, hash } = new URL(endpoint);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === '';
}
