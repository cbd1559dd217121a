import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { tarArchive } from './tar-archive.ts';

/** A release of OpenShift, and the Kubernetes in it. */
export interface LabRelease {
  /** Such as 4.20.1. */
  readonly version: string;
  /** Such as 1.33.5. */
  readonly kubernetesVersion: string;
}

/** Something that a registry keeps by its digest. */
export interface StoredContent {
  readonly digest: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** A manifest, and the blobs that it names. */
export interface StoredImage {
  readonly manifest: StoredContent;
  readonly blobs: readonly StoredContent[];
}

const DOCKER = 'application/vnd.docker';
const MANIFEST = `${DOCKER}.distribution.manifest.v2+json`;
const MANIFEST_LIST = `${DOCKER}.distribution.manifest.list.v2+json`;
const CONFIG = `${DOCKER}.container.image.v1+json`;
const LAYER = `${DOCKER}.image.rootfs.diff.tar.gzip`;

/** The release image for one processor, in the words of Kubernetes. The same release gives the same bytes. */
export function releaseContent(release: LabRelease, architecture: string): StoredImage {
  const archive = tarArchive([
    { name: 'release-manifests/image-references', content: json(imageReferences(release)) },
    { name: 'release-manifests/release-metadata', content: json(releaseMetadata(release)) },
  ]);
  const layer = stored(LAYER, gzipSync(archive, { level: 9 }));
  const config = stored(CONFIG, text(json(imageConfig(release, architecture, archive))));
  const manifest = {
    schemaVersion: 2,
    mediaType: MANIFEST,
    config: descriptor(config),
    layers: [descriptor(layer)],
  };
  return { manifest: stored(MANIFEST, text(json(manifest))), blobs: [config, layer] };
}

/** The list of the images of a release, by processor. */
export function releaseIndex(images: ReadonlyMap<string, StoredImage>): StoredContent {
  const manifests = [...images].map(([architecture, { manifest }]) => ({
    ...descriptor(manifest),
    platform: { architecture, os: 'linux' },
  }));
  return stored(MANIFEST_LIST, text(json({ schemaVersion: 2, mediaType: MANIFEST_LIST, manifests })));
}

/** What the release is made of, as an ImageStream. */
const imageReferences = ({ version, kubernetesVersion }: LabRelease) => ({
  kind: 'ImageStream',
  apiVersion: 'image.openshift.io/v1',
  metadata: { name: version, annotations: { 'release.openshift.io/from-release': 'slipway-lab' } },
  spec: {
    lookupPolicy: { local: false },
    tags: [
      { name: 'cli', annotations: { 'io.openshift.build.source-location': '' } },
      { name: 'hyperkube', annotations: { 'io.openshift.build.versions': `kubernetes=${kubernetesVersion}` } },
      { name: 'machine-os', annotations: { 'io.openshift.build.versions': `machine-os=${version}` } },
    ],
  },
});

const releaseMetadata = ({ version }: LabRelease) => ({ kind: 'cincinnati-metadata-v0', version, previous: [] });

const imageConfig = ({ version }: LabRelease, architecture: string, archive: Uint8Array) => ({
  architecture,
  os: 'linux',
  config: { Labels: { 'io.openshift.release': version } },
  rootfs: { type: 'layers', diff_ids: [digestOf(archive)] },
});

const descriptor = ({ mediaType, digest, bytes }: StoredContent) => ({ mediaType, size: bytes.length, digest });

const stored = (mediaType: string, bytes: Uint8Array): StoredContent => ({
  digest: digestOf(bytes),
  mediaType,
  bytes,
});

const digestOf = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

const json = (value: unknown): string => JSON.stringify(value, undefined, 2);

const text = (content: string): Uint8Array => Buffer.from(content);
