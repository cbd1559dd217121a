import type { Json, JsonObject } from '../src/object/json.ts';
import type { RawClient } from '../test/support/raw-client.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const PLURALS = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'];
const BOOTSTRAPPED = 'rbac-defaults';

interface Listed extends JsonObject {
  metadata: JsonObject & { name: string; namespace?: string; labels?: JsonObject };
}

/** The roles and bindings every cluster starts with, by resource and name: what their authors chose, nothing else. */
export async function policyTable(client: RawClient): Promise<ReadonlyMap<string, Json>> {
  const lists = await Promise.all(PLURALS.map((plural) => client.json<{ items: Listed[] }>(`${RBAC}/${plural}`)));
  return new Map(
    PLURALS.map((plural, at) => {
      const own = (lists[at]?.items ?? []).filter(
        ({ metadata }) => metadata.labels?.['kubernetes.io/bootstrapping'] === BOOTSTRAPPED,
      );
      return [plural, own.map(policyObject).sort(byName)];
    }),
  );
}

function policyObject({ metadata, ...rest }: Listed): Listed {
  const { name, namespace, labels, annotations } = metadata;
  const { kind: _kind, apiVersion: _apiVersion, ...content } = rest;
  const kept: Listed['metadata'] = { name };
  if (namespace !== undefined) kept.namespace = namespace;
  if (annotations !== undefined) kept['annotations'] = annotations;
  if (labels !== undefined) kept.labels = labels;
  // Rules of aggregated roles are computed by the server.
  if (content['aggregationRule'] !== undefined) delete content['rules'];
  return { metadata: kept, ...content };
}

const byName = (a: Listed, b: Listed): number => {
  const [left, right] = [a, b].map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`);
  return left !== undefined && right !== undefined && left < right ? -1 : 1;
};
