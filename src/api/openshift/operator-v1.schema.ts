import * as z from 'zod';
import { defineKind } from '../schema/define-kind.ts';
import { KubeControllerManager } from './operator-v1.ts';

export const KubeControllerManagerDefinition = defineKind({
  ...KubeControllerManager,
  isForeign: true,
  description: 'How the controller manager of Kubernetes runs in the cluster.',
  categories: ['coreoperators'],
  spec: z.object({}),
  status: z.object({}),
});
