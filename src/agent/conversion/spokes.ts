import {
  OpenshiftAssistedConfigTemplateV1alpha1,
  OpenshiftAssistedConfigV1alpha1,
} from '../../api/agent/bootstrap-v1alpha1.ts';
import { OpenshiftAssistedConfig, OpenshiftAssistedConfigTemplate } from '../../api/agent/bootstrap-v1alpha2.ts';
import { OpenshiftAssistedControlPlaneV1alpha2 } from '../../api/agent/controlplane-v1alpha2.ts';
import { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { spoke } from '../../kube/webhook/conversion.ts';
import { configConversion, templateConversion } from './config-conversion.ts';
import { controlPlaneConversion } from './control-plane-conversion.ts';

export const CONFIG_SPOKE = spoke(OpenshiftAssistedConfig, OpenshiftAssistedConfigV1alpha1, {
  convertTo: configConversion.toHub,
  convertFrom: configConversion.toSpoke,
});

export const TEMPLATE_SPOKE = spoke(OpenshiftAssistedConfigTemplate, OpenshiftAssistedConfigTemplateV1alpha1, {
  convertTo: templateConversion.toHub,
  convertFrom: templateConversion.toSpoke,
});

export const CONTROL_PLANE_SPOKE = spoke(OpenshiftAssistedControlPlane, OpenshiftAssistedControlPlaneV1alpha2, {
  convertTo: controlPlaneConversion.toHub,
  convertFrom: controlPlaneConversion.toSpoke,
});
