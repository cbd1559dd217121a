import { dnsLabelProblems } from '../../object/names.ts';
import type { AssetSource, CloudProviderDefinition } from '../definition.ts';

const IDENTIFIER = /^[A-Za-z_]\w*$/;

/** What is wrong with a definition before any file is read, a sentence each. */
export const definitionProblems = (definition: CloudProviderDefinition): readonly string[] => [
  ...dnsLabelProblems(definition.id).map((problem) => `id "${definition.id}" ${problem}`),
  ...imageProblems(definition),
  ...fileProblems('assets', definition.assets),
  ...fileProblems('bootstrapAssets', definition.bootstrapAssets),
  ...credentialProblems(definition),
  ...(definition.cloudConfig?.sources.length === 0
    ? ['cloudConfig.sources is empty: nothing could be synced']
    : []),
  ...(definition.lint?.ignore ?? [])
    .filter(({ reason }) => reason.trim() === '')
    .map(({ rule }) => `lint.ignore: ${rule} is waived without a reason`),
];

function imageProblems({ images }: CloudProviderDefinition): readonly string[] {
  const bindings = Object.entries(images);
  const fields = bindings.flatMap(([, { field }]) => field ?? []);
  const containers = bindings.flatMap(([, { container }]) => container ?? []);
  return [
    ...bindings.flatMap(([key]) =>
      IDENTIFIER.test(key) ? [] : [`images: "${key}" cannot be a key of images.json`],
    ),
    ...bindings.flatMap(([key, { payloadTag }]) =>
      dnsLabelProblems(payloadTag).map((problem) => `images.${key}.payloadTag "${payloadTag}" ${problem}`),
    ),
    ...bindings.flatMap(([key, { field, container }]) =>
      field === undefined && container === undefined
        ? [`images.${key} has neither field nor container: nothing would use it`]
        : [],
    ),
    ...fields.flatMap((field) =>
      IDENTIFIER.test(field) ? [] : [`images: templates cannot name the field "${field}"`],
    ),
    ...repeated(fields).map((field) => `images: two images have the field ${field}`),
    ...repeated(containers).map((container) => `images: two images are for the container ${container}`),
  ];
}

/** Names that stay inside of the folder, each of them once. */
function fileProblems(place: string, source: AssetSource | undefined): readonly string[] {
  if (source === undefined || 'objects' in source) return [];
  const isInside = (file: string) => /^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/.test(file);
  return [
    ...(source.folder.protocol === 'file:' ? [] : [`${place}.folder is not a folder of this machine`]),
    ...source.files
      .filter((file) => !isInside(file))
      .map((file) => `${place}.files: "${file}" is not a file of the folder`),
    ...repeated(source.files).map((file) => `${place}.files: ${file} is there more than once`),
  ];
}

const credentialProblems = ({ credentials = [] }: CloudProviderDefinition): readonly string[] =>
  repeated(credentials.map(({ name }) => name)).map((name) => `credentials: ${name} is there more than once`);

const repeated = (items: readonly string[]): readonly string[] => [
  ...new Set(items.filter((item, index) => items.indexOf(item) !== index)),
];
