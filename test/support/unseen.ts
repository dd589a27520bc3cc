/** Characters that a terminal obeys, and those that hide or turn round the text beside them. */
export const UNSEEN_KINDS: Readonly<Record<string, string>> = {
  'a sequence that clears the screen': '\u001b[2J',
  'a link of a terminal': '\u001b]8;;https://thief.example\u0007',
  'the CSI of C1': '\u009b2J',
  'a carriage return': '\rover',
  'a delete': '\u007f',
  'a null': '\u0000',
  'a mark that turns the text round': '\u202e',
  'an isolate': '\u2066',
  'the Arabic mark of direction': '\u061c',
  'a mark from right to left': '\u200f',
  'a separator of lines': '\u2028',
  'a separator of paragraphs': '\u2029',
  'a space without width': '\u200b',
  'a joiner of words': '\u2060',
  'a soft hyphen': '\u00ad',
  'a mark of byte order': '\ufeff',
  'an annotation': '\ufff9',
  'a tag': '\u{e0041}',
  'a selector of variants beyond emoji': '\u{e0100}',
  'half of a pair': '\ud83d',
}

export const UNSEEN = Object.values(UNSEEN_KINDS).join('x')

/** Characters that no output may hold, listed apart from the code under test. */
export const HARMFUL = new RegExp(
  [
    String.raw`[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f]`,
    String.raw`[\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]|\p{Cs}`,
  ].join('|'),
  'u',
)
