/**
 * The terms that the most frequent passwords consist of, in lower case and without substitutions such as 0 for o. The source are public
 * lists of leaked passwords: of their entries with at least 12 characters, nearly all are these terms, joined, repeated or
 * followed by digits.
 */
export const guessableTerms: readonly string[] = `
password passwort motdepasse contrasena parola passphrase passcode passwd secret geheim
qwertyuiop qwertyui qwerty qwertzuiop qwertz azertyuiop azerty asdfghjkl asdfgh asdf zxcvbnm zxcvbn zxcv yxcvbnm
qazwsxedc qazwsx wsxedc qweasdzxc qweasd qwe123 1qaz2wsx3edc 1qaz2wsx 1q2w3e4r5t6y 1q2w3e4r5t 1q2w3e4r 1q2w3e zaq12wsx zaq1
!@#$%^&*() !@#$%^&* !@#$ abc123 123abc abcd1234 a1b2c3d4e5f6 a1b2c3d4 a1b2c3
letmein welcome hello goodbye changeme default temporary temp test testing tester guest access login logmein signin
administrator admin superuser sysadmin root user username manager master owner system server computer internet
database oracle windows microsoft google facebook youtube twitter linkedin instagram samsung apple android iphone
sandbank sandbox payment payments developer console bank banking money dollar bitcoin company business office
iloveyou ihateyou loveyou loveme lovely love trustno nopassword mypassword fuckyou fuckoff whatever nothing
monkey dragon tiger lion eagle falcon panther butterfly dolphin elephant horses chicken kitty puppy
football baseball basketball soccer hockey tennis liverpool chelsea arsenal barcelona realmadrid juventus yankees cowboys
superman batman spiderman pokemon naruto starwars startrek matrix minecraft fortnite warcraft
sunshine princess shadow master killer hunter ranger soldier warrior phoenix diamond cookie chocolate cheese banana
flower summer winter spring autumn january february march april june july august september october november december
monday tuesday wednesday thursday friday saturday sunday
michael jennifer jessica ashley daniel jordan michelle andrew joshua matthew robert thomas charlie george nicole anthony
christian jesus heaven angel blessed family mother father brother sister forever freedom america london berlin paris
mustang ferrari porsche mercedes corvette harley yamaha
`
  .split(/\s+/)
  .filter((term) => term !== '')
  // Longest first, so that a term that contains another one is found whole.
  .sort((left, right) => right.length - left.length);
