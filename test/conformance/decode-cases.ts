import type { Json, JsonObject } from '../../src/object/json.ts';

export interface DecodeCase {
  readonly name: string;
  readonly path: string;
  /** The built-in type, as the tables name it. */
  readonly type: string;
  readonly body: JsonObject;
}

const at =
  (path: string, type: string) =>
  (body: JsonObject): DecodeCase => ({ name: `${type} ${JSON.stringify(body)}`, path, type, body });
const configMap = at('/api/v1/namespaces/default/configmaps', 'core.v1.ConfigMap');
const pod = at('/api/v1/namespaces/default/pods', 'core.v1.Pod');
const lease = at('/apis/coordination.k8s.io/v1/namespaces/default/leases', 'coordination.v1.Lease');
const container = (fields: JsonObject): DecodeCase => pod({ spec: { containers: [{ name: 'a', ...fields }] } });
const meta = (metadata: Json): DecodeCase => configMap({ metadata });

/**
 * Bodies that Go's decoder refuses. Left out are values of named string types, whose names OpenAPI does not tell
 * (`v1.RestartPolicy`, `types.UID`), and fields of inlined structs, which Go names in the path.
 */
export const DECODE_CASES: readonly DecodeCase[] = [
  meta({ name: 'x', labels: 'a' }),
  meta({ name: 'x', labels: { a: 1 } }),
  meta({ name: 1 }),
  meta({ name: 'x', finalizers: 'a' }),
  meta({ name: 'x', ownerReferences: {} }),
  meta({ name: 'x', ownerReferences: [{ name: 1 }] }),
  meta({ name: 'x', creationTimestamp: 'a' }),
  meta({ name: 'x', creationTimestamp: 5 }),
  meta({ name: 'x', creationTimestamp: '2020-13-01T00:00:00Z' }),
  meta({ name: 'x', creationTimestamp: '2020-02-30T00:00:00Z' }),
  meta({ name: 'x', creationTimestamp: '2020-01-01T00:00:00' }),
  meta({ name: 'x', creationTimestamp: '2020-01-01T25:00:00Z' }),
  meta({ name: 'x', creationTimestamp: '2020-01-01T00:00:00Zx' }),
  meta({ name: 'x', creationTimestamp: '2020-1-01T00:00:00Z' }),
  meta({ name: 'x', generation: 1.5 }),
  meta({ name: 'x', generation: 'a' }),
  meta({ name: 'x', managedFields: [{ time: 'b' }] }),
  meta([]),
  configMap({ data: { a: {} } }),
  configMap({ data: [] }),
  configMap({ binaryData: { a: '!' } }),
  configMap({ binaryData: { a: 1 } }),
  configMap({ immutable: 'x' }),
  pod({ spec: 'a' }),
  pod({ spec: { containers: { name: 1 } } }),
  pod({ spec: { containers: [1] } }),
  pod({ spec: { terminationGracePeriodSeconds: '1' } }),
  pod({ spec: { hostNetwork: '1' } }),
  pod({ spec: { nodeSelector: { a: 1 } } }),
  container({ image: [] }),
  container({ resources: { limits: { cpu: 'x' } } }),
  container({ resources: { limits: { cpu: '1zz' } } }),
  container({ resources: { limits: { cpu: '1KK' } } }),
  container({ resources: { limits: { cpu: {} } } }),
  container({ ports: [{ containerPort: 99_999_999_999 }] }),
  container({ zzz: 1, args: [1] }),
  lease({ spec: { renewTime: '2020-01-01T00:00:00Z' } }),
  lease({ spec: { renewTime: '2020-01-01T00:00:00.0000001Z' } }),
  lease({ spec: { renewTime: 5 } }),
];
