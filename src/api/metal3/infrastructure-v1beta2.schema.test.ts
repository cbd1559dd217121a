import { describe, it } from 'node:test';
import { assertSameNames, type Defined, type Fields, type Part, same } from '../../../test/support/kind-fields.ts';
import {
  Metal3ClusterDefinition,
  Metal3ClusterTemplateDefinition,
  type Metal3ClusterV1beta1Definition,
  Metal3DataTemplateDefinition,
  Metal3MachineDefinition,
  Metal3MachineTemplateDefinition,
  type Metal3MachineV1beta1Definition,
} from './infrastructure-v1beta2.schema.ts';
import {
  Metal3Cluster,
  Metal3ClusterTemplate,
  Metal3DataTemplate,
  Metal3Machine,
  type Metal3MachineSpec,
  Metal3MachineTemplate,
} from './infrastructure-v1beta2.ts';
import { BareMetalHostDefinition } from './metal3-v1alpha1.schema.ts';
import { BareMetalHost } from './metal3-v1alpha1.ts';

/** Types have the fields of both versions: those of ours that are stored, and these of the older one. */
type Older = 'noCloudProvider' | 'ready' | 'phase' | 'format';
type Newer<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [Key in Exclude<keyof T, Older>]: Newer<T[Key]> }
    : T;
/** The host's own image has a format under that name. */
type Defaults = Defined<typeof BareMetalHostDefinition>;

describe('the definitions of Metal3', () => {
  it('have the fields of the types that readers use', () => {
    same<Fields<BareMetalHost>, Defaults>(true);
    same<Newer<Fields<Metal3Cluster>>, Defined<typeof Metal3ClusterDefinition>>(true);
    same<Newer<Fields<Metal3Machine>>, Defined<typeof Metal3MachineDefinition>>(true);
    type ClusterTemplate = Defined<typeof Metal3ClusterTemplateDefinition>;
    same<Newer<Fields<Metal3ClusterTemplate>>, ClusterTemplate>(true);
    type Template = Defined<typeof Metal3MachineTemplateDefinition>;
    same<Newer<Fields<Metal3MachineTemplate>>['spec'], Template['spec']>(true);
    type DataTemplate = Defined<typeof Metal3DataTemplateDefinition>;
    same<keyof Fields<Metal3DataTemplate>['spec'], keyof DataTemplate['spec']>(true);
  });

  it('have in the older version the fields that only it has', () => {
    type OldCluster = Defined<typeof Metal3ClusterV1beta1Definition>;
    type OldMachine = Defined<typeof Metal3MachineV1beta1Definition>;
    type Named<T> = Extract<keyof T, Older>;
    same<Named<OldCluster['spec']>, Named<Part<Metal3Cluster, 'spec'>>>(true);
    same<Named<OldCluster['status']>, Named<Part<Metal3Cluster, 'status'>>>(true);
    same<Named<OldMachine['status']>, Named<Part<Metal3Machine, 'status'>>>(true);
    same<Named<OldMachine['spec']['image']>, Named<Part<Metal3MachineSpec, 'image'>>>(true);
  });

  it('have the names of the kinds that readers use', () => {
    assertSameNames([
      [BareMetalHost, BareMetalHostDefinition],
      [Metal3Cluster, Metal3ClusterDefinition],
      [Metal3ClusterTemplate, Metal3ClusterTemplateDefinition],
      [Metal3Machine, Metal3MachineDefinition],
      [Metal3MachineTemplate, Metal3MachineTemplateDefinition],
      [Metal3DataTemplate, Metal3DataTemplateDefinition],
    ]);
  });
});
