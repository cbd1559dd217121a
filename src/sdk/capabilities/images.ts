import type { Absent, CallContext, Creation, ListQuery, Page, Tags } from './call.ts';

/** What the cloud boots from, and how it gets there. */
export interface ImagesFacts {
  readonly formats: readonly ('raw' | 'qcow2' | 'vmdk' | 'vhd' | 'ova')[];
  /** Whether the cloud fetches an image by itself from a URL. */
  readonly importsFromUrl: boolean;
  readonly maxBytes?: bigint;
}

/** An image to be imported; whoever imports it compares the checksum. */
export interface NewImage extends Creation {
  readonly architecture: string;
  readonly format: ImagesFacts['formats'][number];
  readonly url: string;
  readonly sha256: string;
}

/** A boot image as the cloud has it. */
export interface Image {
  readonly state: 'importing' | 'ready' | 'error';
  readonly id: string;
  readonly architecture: string;
  readonly tags: Tags;
}

/** Boot images. */
export interface Images<C extends CallContext = CallContext> {
  declare(): ImagesFacts;
  create(image: NewImage, call: C): Promise<{ readonly id: string }>;
  describe(id: string, call: C): Promise<Image | Absent>;
  list(query: ListQuery, call: C): Promise<Page<Image>>;
  remove(id: string, call: C): Promise<void>;
}
