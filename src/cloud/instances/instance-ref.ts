import type { Node } from '../../api/generated/core-v1.ts';
import type { InstanceRef } from '../../sdk/capabilities/instances.ts';

/** The machine behind a Node, as a provider is asked about it. */
export function instanceRef(node: Node): InstanceRef {
  const { providerID = '' } = node.spec;
  return { nodeName: node.metadata.name, ...(providerID !== '' && { providerID }), node };
}
