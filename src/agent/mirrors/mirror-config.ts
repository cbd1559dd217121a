import { userError } from '../../base/errors.ts';
import type { MirrorLocation, RegistryMirror } from '../../oci/registry-mirrors.ts';
import { parseRegistriesConf } from './registries-conf.ts';

const REGISTRIES_CONF = 'registries.conf';
const CA_BUNDLE = 'ca-bundle.crt';
const MIRROR_SET = 'additional-registry';
const CERTIFICATE = { name: 'additional-registry-certificate', namespace: 'openshift-config' };
const CONFIG_VERSION = 'config.openshift.io/v1';

/**
 * The manifests that bring the mirrors of a ConfigMap into a new cluster, by the name of their file (M1, M2). Their text
 * is what upstream writes, so that a cluster that changes over sees no difference. Throws `InvalidMirrorConfig`.
 */
export function mirrorManifests(data: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const text = Object.hasOwn(data, REGISTRIES_CONF) ? data[REGISTRIES_CONF] : undefined;
  if (text === undefined) throw noRegistriesConf(data);
  const registries = parseRegistriesConf(text);
  const byTag = entriesOf(registries, (mirror) => mirror.pullFrom === 'tag-only');
  const byDigest = entriesOf(registries, (mirror) => mirror.pullFrom !== 'tag-only');
  const insecure = registries.flatMap(({ mirrors }) => mirrors).filter(({ isInsecure }) => isInsecure === true);
  const certificate = Object.hasOwn(data, CA_BUNDLE) ? data[CA_BUNDLE] : undefined;
  const manifests = {
    ...(byDigest.length > 0 && {
      'image-digest-mirror-set.json': mirrorSet('ImageDigestMirrorSet', { imageDigestMirrors: byDigest }),
    }),
    ...(byTag.length > 0 && {
      'image-tag-mirror-set.json': mirrorSet('ImageTagMirrorSet', { imageTagMirrors: byTag }),
    }),
    ...(certificate !== undefined && { 'additional-registry-certificate.json': certificateMap(certificate) }),
    ...((certificate !== undefined || insecure.length > 0) && {
      'image-config.json': imageConfig(insecure, certificate !== undefined),
    }),
  };
  return Object.fromEntries(Object.entries(manifests).map(([name, manifest]) => [name, JSON.stringify(manifest)]));
}

interface MirrorEntry {
  readonly source: string;
  readonly mirrors: readonly string[];
}

/** One entry per registry that has any, in the order of the file. */
function entriesOf(
  registries: readonly RegistryMirror[],
  isMeant: (mirror: MirrorLocation) => boolean,
): readonly MirrorEntry[] {
  const entries = registries.map(({ source, mirrors }) => ({
    source,
    mirrors: mirrors.filter(isMeant).map(({ location }) => location),
  }));
  return entries.filter(({ mirrors }) => mirrors.length > 0);
}

const mirrorSet = (kind: string, spec: Readonly<Record<string, readonly MirrorEntry[]>>) => ({
  kind,
  apiVersion: CONFIG_VERSION,
  metadata: { name: MIRROR_SET },
  spec,
  status: {},
});

const certificateMap = (certificate: string) => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: CERTIFICATE,
  data: { [CA_BUNDLE]: certificate },
});

/** The empty values are upstream's: Go writes them. */
const imageConfig = (insecure: readonly MirrorLocation[], hasCertificate: boolean) => ({
  kind: 'Image',
  apiVersion: CONFIG_VERSION,
  metadata: { name: 'cluster' },
  spec: {
    additionalTrustedCA: { name: hasCertificate ? CERTIFICATE.name : '' },
    registrySources: insecure.length === 0 ? {} : { insecureRegistries: insecure.map(({ location }) => location) },
    imageStreamImportMode: '',
  },
  status: {},
});

function noRegistriesConf(data: Readonly<Record<string, string>>) {
  const keys = Object.keys(data).join(', ') || 'none';
  return userError(
    'InvalidMirrorConfig',
    `the ConfigMap of imageRegistryRef names no mirrors: it has no key ${REGISTRIES_CONF} (found ${keys}); add it`,
  );
}
