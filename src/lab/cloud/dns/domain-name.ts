const LONGEST_NAME = 253;
const LONGEST_LABEL = 63;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/;

/** One name has one form here: small letters, without the dot at the end. The root is the empty string. */
export const canonicalName = (text: string): string =>
  text.replace(/\.$/, '').replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** What is wrong with a canonical name that records shall have, in words; undefined when nothing is. */
export function nameProblem(name: string): string | undefined {
  if (name === '') return 'must not be empty';
  if (name.length > LONGEST_NAME) return `has at most ${LONGEST_NAME} characters`;
  const [first, ...others] = name.split('.');
  const labels = first === '*' ? others : [first ?? '', ...others];
  const wrong = labels.find((label) => label.length > LONGEST_LABEL || !LABEL.test(label));
  if (wrong === undefined) return undefined;
  return wrong === ''
    ? 'must not have two dots in a row'
    : `"${wrong}" is not a label: up to ${LONGEST_LABEL} letters, digits, "_" and "-", the last not at its ends`;
}

/** Whether a name is the other one or below it. */
export const isWithin = (name: string, ancestor: string): boolean =>
  ancestor === '' || name === ancestor || name.endsWith(`.${ancestor}`);

/** One label less; the root has no parent and stays. */
export function parentName(name: string): string {
  const dot = name.indexOf('.');
  return dot < 0 ? '' : name.slice(dot + 1);
}
