import assert from 'node:assert/strict';
import type { KubeObject } from '../../src/api/object.ts';
import {
  builtInRegistry,
  cloudOperator,
  deployedFlags,
  type Installation,
  operatorNames,
  platformAccess,
} from '../../src/cloud-operator/index.ts';

const OPERATOR_IMAGE = 'example.com/operator:1';

/** What installs the operator in the place of that of the payload. */
export function replaceInstallation(): Installation {
  const registry = builtInRegistry();
  const place = { mode: 'replace', names: operatorNames('replace', '') } as const;
  return {
    ...place,
    image: OPERATOR_IMAGE,
    images: registry.imagesJson(OPERATOR_IMAGE),
    needs: cloudOperator.needs(registry, deployedFlags(place)),
    held: registry.operatorRules(),
    credentials: registry.credentialsRequests(place.names.managedNamespace),
    operandAccess: platformAccess(place.names),
    isForPlatforms: true,
    imageReferences: registry.imageReferences(OPERATOR_IMAGE),
    releaseVersion: '0.0.1-snapshot',
  };
}

/** `ClusterRole/a`, or `Role/a in b`. */
export const titleOf = ({ kind, metadata: { name, namespace } }: KubeObject): string =>
  namespace === undefined ? `${kind}/${name}` : `${kind}/${name} in ${namespace}`;

/** The object of that title; fails when there is none. */
export function objectNamed<T extends KubeObject>(objects: readonly KubeObject[], title: string): T {
  const found = objects.find((object) => titleOf(object) === title);
  return (found as T | undefined) ?? assert.fail(`no ${title} among ${objects.map(titleOf).join(', ')}`);
}
