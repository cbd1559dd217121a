import { describe, it } from 'node:test';
import { assertSameNames, type Defined, type Fields, same } from '../../../test/support/kind-fields.ts';
import { ClusterDeploymentDefinition, ClusterImageSetDefinition } from './hive-v1.schema.ts';
import { ClusterDeployment, ClusterImageSet } from './hive-v1.ts';

describe('the definitions of hive.openshift.io/v1', () => {
  it('have the fields of the types that readers use', () => {
    // The platform is any object in both, which has several spellings; conditions are those of all that Hive and
    // assisted-service write.
    type Unread<T> = Omit<T, 'platform'>;
    type Deployment = Defined<typeof ClusterDeploymentDefinition>;
    same<Unread<Fields<ClusterDeployment>['spec']>, Unread<Deployment['spec']>>(true);
    same<keyof Fields<ClusterDeployment>['spec']['platform'], keyof Deployment['spec']['platform']>(true);
    same<Fields<ClusterImageSet>['spec'], Defined<typeof ClusterImageSetDefinition>['spec']>(true);
  });

  it('have the names of the kinds that readers use', () => {
    assertSameNames([
      [ClusterDeployment, ClusterDeploymentDefinition],
      [ClusterImageSet, ClusterImageSetDefinition],
    ]);
  });
});
