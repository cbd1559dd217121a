import { describe, it } from 'node:test';
import { assertSameNames, type Defined, type Fields, same } from '../../../test/support/kind-fields.ts';
import {
  ClusterDefinition,
  MachineDefinition,
  MachineDeploymentDefinition,
  MachineSetDefinition,
} from './core-v1beta2.schema.ts';
import { Cluster, Machine, MachineDeployment, MachineSet } from './core-v1beta2.ts';

describe('the definitions of cluster.x-k8s.io/v1beta2', () => {
  it('have the fields of the types that readers use', () => {
    same<Fields<Cluster>, Defined<typeof ClusterDefinition>>(true);
    same<Fields<Machine>['spec'], Defined<typeof MachineDefinition>['spec']>(true);
    // What core knows about the node is any object in both, which has several spellings.
    type Unread<T> = Omit<T, 'nodeInfo'>;
    same<Unread<Fields<Machine>['status']>, Unread<Defined<typeof MachineDefinition>['status']>>(true);
    same<Fields<MachineSet>, Defined<typeof MachineSetDefinition>>(true);
    same<Fields<MachineDeployment>, Defined<typeof MachineDeploymentDefinition>>(true);
  });

  it('have the names of the kinds that readers use', () => {
    assertSameNames([
      [Cluster, ClusterDefinition],
      [Machine, MachineDefinition],
      [MachineSet, MachineSetDefinition],
      [MachineDeployment, MachineDeploymentDefinition],
    ]);
  });
});
