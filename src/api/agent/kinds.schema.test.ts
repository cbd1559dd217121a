import { describe, it } from 'node:test';
import { assertSameNames, type Defined, type Fields, same } from '../../../test/support/kind-fields.ts';
import {
  OpenshiftAssistedConfigTemplateV1alpha1Definition,
  OpenshiftAssistedConfigV1alpha1Definition,
} from './bootstrap-v1alpha1.schema.ts';
import { OpenshiftAssistedConfigTemplateV1alpha1, OpenshiftAssistedConfigV1alpha1 } from './bootstrap-v1alpha1.ts';
import {
  OpenshiftAssistedConfigDefinition,
  OpenshiftAssistedConfigTemplateDefinition,
} from './bootstrap-v1alpha2.schema.ts';
import { OpenshiftAssistedConfig, OpenshiftAssistedConfigTemplate } from './bootstrap-v1alpha2.ts';
import { OpenshiftAssistedControlPlaneV1alpha2Definition } from './controlplane-v1alpha2.schema.ts';
import { OpenshiftAssistedControlPlaneV1alpha2 } from './controlplane-v1alpha2.ts';
import {
  OpenshiftAssistedControlPlaneDefinition,
  OpenshiftAssistedControlPlaneTemplateDefinition,
} from './controlplane-v1alpha3.schema.ts';
import { OpenshiftAssistedControlPlane, OpenshiftAssistedControlPlaneTemplate } from './controlplane-v1alpha3.ts';

describe('the definitions of the Agent providers', () => {
  it('have the fields of the types that controllers use', () => {
    same<Fields<OpenshiftAssistedConfig>, Defined<typeof OpenshiftAssistedConfigDefinition>>(true);
    same<Fields<OpenshiftAssistedConfigV1alpha1>, Defined<typeof OpenshiftAssistedConfigV1alpha1Definition>>(true);
    type Template = Defined<typeof OpenshiftAssistedConfigTemplateDefinition>['spec'];
    same<Fields<OpenshiftAssistedConfigTemplate>['spec'], Template>(true);
    type OldTemplate = Defined<typeof OpenshiftAssistedConfigTemplateV1alpha1Definition>['spec'];
    same<Fields<OpenshiftAssistedConfigTemplateV1alpha1>['spec'], OldTemplate>(true);
    same<Fields<OpenshiftAssistedControlPlane>, Defined<typeof OpenshiftAssistedControlPlaneDefinition>>(true);
    type ControlPlaneTemplate = Defined<typeof OpenshiftAssistedControlPlaneTemplateDefinition>;
    same<Fields<OpenshiftAssistedControlPlaneTemplate>, ControlPlaneTemplate>(true);
    type OldControlPlane = Defined<typeof OpenshiftAssistedControlPlaneV1alpha2Definition>;
    same<Fields<OpenshiftAssistedControlPlaneV1alpha2>, OldControlPlane>(true);
  });

  it('have the names of the kinds that controllers use', () => {
    assertSameNames([
      [OpenshiftAssistedConfig, OpenshiftAssistedConfigDefinition],
      [OpenshiftAssistedConfigV1alpha1, OpenshiftAssistedConfigV1alpha1Definition],
      [OpenshiftAssistedConfigTemplate, OpenshiftAssistedConfigTemplateDefinition],
      [OpenshiftAssistedConfigTemplateV1alpha1, OpenshiftAssistedConfigTemplateV1alpha1Definition],
      [OpenshiftAssistedControlPlane, OpenshiftAssistedControlPlaneDefinition],
      [OpenshiftAssistedControlPlaneTemplate, OpenshiftAssistedControlPlaneTemplateDefinition],
      [OpenshiftAssistedControlPlaneV1alpha2, OpenshiftAssistedControlPlaneV1alpha2Definition],
    ]);
  });
});
