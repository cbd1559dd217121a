import { describe, it } from 'node:test';
import { assertSameNames, type Defined, type Fields, same } from '../../../test/support/kind-fields.ts';
import { AgentDefinition, InfraEnvDefinition } from './agent-install-v1beta1.schema.ts';
import { Agent, type AssistedCondition, InfraEnv } from './agent-install-v1beta1.ts';
import { AgentClusterInstallDefinition } from './hive-extensions-v1beta1.schema.ts';
import { AgentClusterInstall } from './hive-extensions-v1beta1.ts';

/** One type is for the conditions of all kinds here, each of which has one time of its own. */
type Unread<T> = Omit<T, 'conditions' | 'ignitionEndpoint'>;
type Condition<Own extends string> = Fields<Omit<AssistedCondition, Own>>[];

describe('the definitions of assisted-service', () => {
  it('have the fields of the types that readers use', () => {
    type Env = Defined<typeof InfraEnvDefinition>;
    same<Fields<InfraEnv>['spec'], Env['spec']>(true);
    same<Unread<Fields<InfraEnv>['status']>, Unread<Env['status']>>(true);
    same<Condition<'lastProbeTime'>, Env['status']['conditions']>(true);
    type Host = Defined<typeof AgentDefinition>;
    same<Fields<Agent>['spec'], Host['spec']>(true);
    same<Unread<Fields<Agent>['status']>, Unread<Host['status']>>(true);
    same<Condition<'lastProbeTime'>, Host['status']['conditions']>(true);
    // The endpoint of ignition is any object in both, which has several spellings.
    type Install = Defined<typeof AgentClusterInstallDefinition>;
    same<Unread<Fields<AgentClusterInstall>['spec']>, Unread<Install['spec']>>(true);
    same<Unread<Fields<AgentClusterInstall>['status']>, Unread<Install['status']>>(true);
    same<Condition<'lastHeartbeatTime'>, Install['status']['conditions']>(true);
  });

  it('have the names of the kinds that readers use', () => {
    assertSameNames([
      [InfraEnv, InfraEnvDefinition],
      [Agent, AgentDefinition],
      [AgentClusterInstall, AgentClusterInstallDefinition],
    ]);
  });
});
