/**
 * The tag of an image reference: `latest` when neither tag nor digest is given, empty beside a digest. What cannot be
 * an image has none.
 */
export function imageTag(image: string): string {
  if (image === '' || /\s/.test(image)) return '';
  const at = image.indexOf('@');
  const name = at < 0 ? image : image.slice(0, at);
  const colon = name.lastIndexOf(':');
  // A colon before the last slash belongs to the port of a registry.
  const tag = colon > name.lastIndexOf('/') ? name.slice(colon + 1) : '';
  if (tag !== '') return tag;
  return at < 0 ? 'latest' : '';
}
