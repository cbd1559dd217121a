import { type FieldError, invalid, keyPath, notSupported, required } from '../../object/field-error.ts';
import type { JsonObject } from '../../object/json.ts';
import { dnsSubdomainProblems } from '../../object/names.ts';
import { compileMatchConditions } from '../cel/match-conditions.ts';
import type { Strategy } from '../registry/resource.ts';
import { checkChoice, checkEach, checkRule, checkUnique } from './checks.ts';
import { has, listAt, numberAt, objectAt, objectsAt, optionalAt, setDefault, textAt, textsAt } from './fields.ts';
import { kindStrategy } from './kind-strategy.ts';
import { checkSelector } from './label-selectors.ts';
import { portNumberProblems } from './name-rules.ts';

const HTTPS_PORT = 443;
const TIMEOUT_SECONDS = 10;
const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const REVIEWS = ['v1', 'v1beta1'];

export const webhookStrategy = (type: string): Strategy => {
  const isMutating = type.includes('Mutating');
  return kindStrategy({
    type,
    tracksGeneration: true,
    allowsUnconditionalUpdate: false,
    setDefaults(object) {
      for (const webhook of objectsAt(object, 'webhooks')) webhookDefaults(webhook, isMutating);
    },
    validate: (object) => checkWebhooks(objectsAt(object, 'webhooks')),
  });
};

/** apiserver/V7 */
function webhookDefaults(webhook: JsonObject, isMutating: boolean): void {
  setDefault(webhook, 'failurePolicy', 'Fail');
  setDefault(webhook, 'matchPolicy', 'Equivalent');
  setDefault(webhook, 'namespaceSelector', {});
  setDefault(webhook, 'objectSelector', {});
  setDefault(webhook, 'timeoutSeconds', TIMEOUT_SECONDS);
  if (isMutating) setDefault(webhook, 'reinvocationPolicy', 'Never');
  for (const rule of objectsAt(webhook, 'rules')) setDefault(rule, 'scope', '*');
  const service = optionalAt(objectAt(webhook, 'clientConfig'), 'service');
  if (service !== undefined) setDefault(service, 'port', HTTPS_PORT);
}

function checkWebhooks(webhooks: readonly JsonObject[]): readonly FieldError[] {
  const names = webhooks.map((webhook) => textAt(webhook, 'name'));
  return [
    ...checkUnique(names, (index) => `webhooks[${index}].name`),
    ...checkEach(webhooks, 'webhooks', checkWebhook),
  ];
}

/** matchConditions must be expressions that can be asked (V2). */
function checkConditions(webhook: JsonObject, path: string): readonly FieldError[] {
  const conditions = objectsAt(webhook, 'matchConditions').map((condition) => ({
    name: textAt(condition, 'name'),
    expression: textAt(condition, 'expression'),
  }));
  return compileMatchConditions(conditions).problems.map((problem) => ({
    reason: problem.reason,
    field: `${path}${problem.path}`,
    message: problem.message,
  }));
}

function checkWebhook(webhook: JsonObject, path: string): readonly FieldError[] {
  const seconds = numberAt(webhook, 'timeoutSeconds');
  const isLate = seconds !== undefined && (seconds < 1 || seconds > 30);
  const effects = ['None', 'NoneOnDryRun'];
  return [
    ...checkWebhookName(textAt(webhook, 'name'), `${path}.name`),
    ...checkConditions(webhook, `${path}.matchConditions`),
    ...checkEach(objectsAt(webhook, 'rules'), `${path}.rules`, checkRuleWithOperations),
    ...checkChoice(webhook, 'failurePolicy', path, ['Fail', 'Ignore']),
    ...checkChoice(webhook, 'matchPolicy', path, ['Equivalent', 'Exact']),
    ...(has(webhook, 'sideEffects')
      ? checkChoice(webhook, 'sideEffects', path, effects)
      : [required(`${path}.sideEffects`, `must specify one of ${effects.join(', ')}`)]),
    ...(isLate
      ? [invalid(`${path}.timeoutSeconds`, seconds, 'the timeout value must be between 1 and 30 seconds')]
      : []),
    ...checkChoice(webhook, 'reinvocationPolicy', path, ['IfNeeded', 'Never']),
    ...checkSelector(objectAt(webhook, 'namespaceSelector'), `${path}.namespaceSelector`),
    ...checkSelector(objectAt(webhook, 'objectSelector'), `${path}.objectSelector`),
    ...checkReviews(textsAt(webhook, 'admissionReviewVersions'), `${path}.admissionReviewVersions`),
    ...checkClient(objectAt(webhook, 'clientConfig'), `${path}.clientConfig`),
  ];
}

function checkWebhookName(name: string, path: string): readonly FieldError[] {
  if (name === '') return [required(path)];
  const problems = checkRule(path, name, dnsSubdomainProblems);
  if (problems.length > 0) return problems;
  return name.split('.').length < 3
    ? [invalid(path, name, 'should be a domain with at least three segments separated by dots')]
    : [];
}

function checkReviews(versions: readonly string[], path: string): readonly FieldError[] {
  if (versions.length === 0) return [required(path, `must specify one of ${REVIEWS.join(', ')}`)];
  return versions.some((version) => REVIEWS.includes(version))
    ? []
    : [invalid(path, [...versions], `must include at least one of ${REVIEWS.join(', ')}`)];
}

function checkRuleWithOperations(rule: JsonObject, path: string): readonly FieldError[] {
  const lists = ['operations', 'apiGroups', 'apiVersions', 'resources'];
  const missing = lists.filter((key) => listAt(rule, key).length === 0).map((key) => required(`${path}.${key}`));
  const operations = textsAt(rule, 'operations');
  return [
    ...missing,
    ...operations.flatMap((operation, index) =>
      OPERATIONS.includes(operation) ? [] : [notSupported(`${path}.operations[${index}]`, operation, OPERATIONS)],
    ),
    ...checkAlone(operations, `${path}.operations`, 'operations'),
    ...checkAlone(textsAt(rule, 'apiGroups'), `${path}.apiGroups`, 'API groups'),
    ...textsAt(rule, 'apiVersions').flatMap((version, index) =>
      version === '' ? [required(keyPath(`${path}.apiVersions`, index))] : [],
    ),
    ...checkAlone(textsAt(rule, 'apiVersions'), `${path}.apiVersions`, 'API versions'),
    ...checkResourceList(textsAt(rule, 'resources'), `${path}.resources`),
    ...checkChoice(rule, 'scope', path, ['*', 'Cluster', 'Namespaced']),
  ];
}

/** A star says everything; nothing may stand beside it. */
const checkAlone = (values: readonly string[], path: string, what: string): readonly FieldError[] =>
  values.includes('*') && values.length > 1
    ? [invalid(path, [...values], `if '*' is present, must not specify other ${what}`)]
    : [];

function checkResourceList(resources: readonly string[], path: string): readonly FieldError[] {
  const plain = resources.filter((resource) => !resource.includes('/'));
  const isMixed = plain.includes('*') && plain.length > 1;
  const isAll = resources.includes('*/*') && resources.length > 1;
  return [
    ...(isAll ? [invalid(path, [...resources], "if '*/*' is present, must not specify other resources")] : []),
    ...(isMixed
      ? [invalid(path, [...resources], "if '*' is present, must not specify other resources without subresources")]
      : []),
  ];
}

function checkClient(client: JsonObject, path: string): readonly FieldError[] {
  const service = optionalAt(client, 'service');
  const url = textAt(client, 'url');
  if ((service === undefined) === (url === '')) {
    return [required(path, 'exactly one of url or service is required')];
  }
  return service === undefined ? checkUrl(url, `${path}.url`) : checkServiceRef(service, `${path}.service`);
}

function checkUrl(text: string, path: string): readonly FieldError[] {
  const url = URL.parse(text);
  if (url === null)
    return [required(path, 'url must be a valid URL: parse failed; desired format: https://host[/path]')];
  if (url.protocol === 'https:') return [];
  const scheme = url.protocol.slice(0, -1);
  return [invalid(path, scheme, "'https' is the only allowed URL scheme; desired format: https://host[/path]")];
}

function checkServiceRef(service: JsonObject, path: string): readonly FieldError[] {
  const port = numberAt(service, 'port') ?? HTTPS_PORT;
  return [
    ...['name', 'namespace'].filter((key) => textAt(service, key) === '').map((key) => required(`${path}.${key}`)),
    ...portNumberProblems(port).map((problem) => invalid(`${path}.port`, port, `port is not valid: ${problem}`)),
    ...(has(service, 'path') ? checkUrlPath(textAt(service, 'path'), `${path}.path`) : []),
  ];
}

function checkUrlPath(place: string, path: string): readonly FieldError[] {
  if (place === '/' || place === '') return [];
  const steps = place.slice(1).replace(/\/$/, '').split('/');
  return [
    ...(place.startsWith('/') ? [] : [invalid(path, place, "must start with a '/'")]),
    ...steps.flatMap((step, index) => {
      if (step === '') return [invalid(path, place, `segment[${index}] may not be empty`)];
      return checkRule(path, step, dnsSubdomainProblems).map((error) =>
        invalid(path, place, `segment[${index}]: ${error.message}`),
      );
    }),
  ];
}
