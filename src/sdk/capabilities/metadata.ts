/** What a machine finds out about itself, and where pods must not look. */
export interface MetadataFacts {
  /** Where it answers; pods are kept away from these. */
  readonly addresses: readonly string[];
  readonly port?: number;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A token is fetched first and sent along. */
  readonly token?: {
    readonly path: string;
    readonly method: 'PUT' | 'GET';
    /** Sent when the token is asked for. */
    readonly requestHeaders?: Readonly<Record<string, string>>;
    /** Carries the token in every other request. */
    readonly header: string;
  };
  readonly paths: {
    /** Answers with the plain text that `{id}` of the provider ID stands for. */
    readonly instanceId: string;
    readonly zone?: string;
    readonly hostname?: string;
    readonly userData?: string;
  };
}

/** The metadata service of the cloud: facts only, machines ask it without us. */
export interface Metadata {
  declare(): MetadataFacts;
}
