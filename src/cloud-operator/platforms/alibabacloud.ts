import type { CloudProviderDefinition } from '../definition.ts';

/** Its kubelets wait for a cloud controller manager, and somebody else brings it. */
export const ALIBABACLOUD: CloudProviderDefinition = {
  id: 'alibabacloud',
  match: { type: 'AlibabaCloud' },
  images: {},
  assets: { objects: [] },
};
