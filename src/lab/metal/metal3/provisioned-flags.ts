interface Flags {
  readonly ready?: boolean;
  readonly initialization?: { readonly provisioned?: boolean };
}

/**
 * That something is provisioned, for readers of v1beta2 and of v1beta1, which a lab does not convert. Said once: a server
 * whose v1beta2 has no `ready` drops it, and telling it again and again would be a write each time.
 */
export const provisionedFlags = ({ initialization }: Flags = {}): Flags =>
  initialization?.provisioned === true
    ? {}
    : { ready: true, initialization: { ...initialization, provisioned: true } };
