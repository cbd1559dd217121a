/** Whether this process may write, as far as it can know without asking anybody (E7). */
export interface Fence {
  /** False from the moment another candidate may think that it leads. */
  readonly isValid: boolean;
  /** Grows with each change of leader. */
  readonly token: string;
}

/** Without leader election everybody leads (E10). */
export const UNFENCED: Fence = { isValid: true, token: '0' };
