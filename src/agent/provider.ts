/** The two Cluster API providers of this component. */
export type Provider = 'bootstrap' | 'control-plane';
