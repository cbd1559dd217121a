import { SlipwayError } from '../../base/errors.ts';

export type NodeProblemReason = 'InvalidNodeAddress' | 'NodeAddressMismatch' | 'NoProviderID';

/**
 * Something about a Node and its machine that does not go away by itself, so it is shown on the Node. It is tried again
 * all the same: what has to change is in the cloud or at the kubelet, and nobody tells us when it does (N8).
 */
export class NodeProblem extends SlipwayError {
  override readonly reason: NodeProblemReason;

  constructor(reason: NodeProblemReason, message: string) {
    super('retry', reason, message);
    this.name = 'NodeProblem';
    this.reason = reason;
  }
}
