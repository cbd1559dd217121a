import type { JsonObject } from '../../object/json.ts';
import { stringifyJson, summarizeBody } from '../../object/json-text.ts';
import type { Registry } from '../registry/registry.ts';
import { apiVersionOf, type Resource } from '../registry/resource.ts';
import { metadataOf } from '../request.ts';
import { badRequest, invalidObject, type StatusError } from '../status.ts';
import { textOf } from './object-meta.ts';

/** The object cannot be read as what the endpoint takes (E11). */
export const mishandled = ({ kind, version }: Resource, why: string): StatusError =>
  badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`);

export const unrecognized = ({ kind }: Resource, why: string): StatusError =>
  badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why}`);

/** Where Go's type registry is made; clients have come to see it in these texts. */
export const notRegistered = (kind: string, apiVersion: string): string =>
  `no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`;

/** The Go package of a group's internal types: `core`, `rbac`. */
const packageOf = (group: string): string => (group === '' ? 'core' : (group.split('.')[0] ?? group));

/** Built-ins take a body without kind and apiVersion; other ones are refused. */
export function checkBuiltinKind(resource: Resource, registry: Registry, object: JsonObject): void {
  const wanted = apiVersionOf(resource);
  const apiVersion = textOf(object['apiVersion']) || wanted;
  const kind = textOf(object['kind']) || resource.kind;
  if (apiVersion !== wanted || kind !== resource.kind) throw otherKind(resource, registry, { apiVersion, kind });
  object['kind'] = resource.kind;
  object['apiVersion'] = wanted;
}

interface Found {
  readonly apiVersion: string;
  readonly kind: string;
}

function otherKind(resource: Resource, registry: Registry, { apiVersion, kind }: Found): StatusError {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const prefix = `${kind} in version "${version}" cannot be handled as a ${resource.kind}`;
  const isKnown = registry.findKind(group ?? '', version ?? '', kind)?.isCustom === false;
  // Versions that a group once had are known to Go, though nobody serves them.
  if (!isKnown && group !== '' && group === resource.group && kind === resource.kind) {
    return badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${apiVersionOf(resource)})`,
    );
  }
  if (!isKnown) return badRequest(`${prefix}: ${notRegistered(kind, apiVersion)}`);
  const target = `${packageOf(resource.group)}.${resource.kind}`;
  return badRequest(`${prefix}: converting (${version}.${kind}) to (${target}): unknown conversion`);
}

/** X14: custom resources must say what they are. `isPatch`: a patched object is judged later, by validation. */
export function requireKind(resource: Resource, object: JsonObject, isPatch: boolean): void {
  const [apiVersion, kind] = [textOf(object['apiVersion']), textOf(object['kind'])];
  if (kind === '') {
    const text = stringifyJson(object);
    const missing = `Object 'Kind' is missing in '${text}'`;
    throw unrecognized(resource, isPatch ? missing : `${missing} (${summarizeBody(Buffer.from(text))})`);
  }
  const wanted = apiVersionOf(resource);
  if (apiVersion !== wanted && !isPatch) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${wanted})`,
    );
  }
  const errors = [
    ...(apiVersion === wanted ? [] : [mustBe('apiVersion', apiVersion, wanted)]),
    ...(kind === resource.kind ? [] : [mustBe('kind', kind, resource.kind)]),
  ];
  if (errors.length === 0) return;
  // The Status names what the body claims to be.
  const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : [''];
  throw invalidObject({ group, kind }, textOf(metadataOf(object)['name']), errors);
}

const mustBe = (field: string, found: string, wanted: string) =>
  ({
    reason: 'FieldValueInvalid',
    field,
    message: `Invalid value: ${JSON.stringify(found)}: must be ${wanted}`,
  }) as const;
