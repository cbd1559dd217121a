import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CloudProviderDefinition } from '../../definition.ts';
import { POWERVS } from '../powervs/definition.ts';
import type { AccessPolicy } from './access-policies.ts';
import { IBM } from './definition.ts';

/** `serviceName=is: role:Editor …`, the roles without what they all start with. */
function policiesOf({ credentials = [] }: CloudProviderDefinition): readonly string[] {
  const policies = credentials.flatMap(({ providerSpec }) => providerSpec['policies'] as readonly AccessPolicy[]);
  return policies.map(({ attributes, roles }) => {
    const scope = attributes.map(({ name, value }) => `${name}=${value}`).join(',');
    return `${scope}: ${roles.map((role) => role.replace('crn:v1:bluemix:public:iam::::', '')).join(' ')}`;
  });
}

const NETWORK = [
  'resourceType=resource-group: role:Viewer',
  'serviceName=is: role:Editor role:Operator role:Viewer',
];

describe('what IBM Cloud is asked for', () => {
  it('operator/R96: is the network service for its own machines', () => {
    assert.deepEqual(policiesOf(IBM), NETWORK);
  });

  it('operator/R96: is the Power service besides, for Power machines', () => {
    const power = 'serviceName=power-iaas: role:Viewer serviceRole:Reader serviceRole:Manager';
    assert.deepEqual(policiesOf(POWERVS), [...NETWORK, power]);
  });
});
