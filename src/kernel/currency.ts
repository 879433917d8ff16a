import { Type } from 'typebox';
export interface Currency {
  readonly code: string;
  /** How many decimal digits the minor unit has: an amount of 100 is 1.00 EUR, 100 JPY and 0.100 KWD. */
  readonly exponent: 0 | 2 | 3 | 4;
  readonly name: string;
}

/**
 * The circulating currencies of ISO 4217 as of 2026, without fund codes, precious metals and testing codes. We do not use Intl:
 * its CLDR data shows rupiah and forint without decimals, changes between versions of Node, and still accepts withdrawn codes.
 */
const table: readonly (readonly [code: string, exponent: Currency['exponent'], name: string])[] = [
  ['AED', 2, 'UAE dirham'],
  ['AFN', 2, 'Afghan afghani'],
  ['ALL', 2, 'Albanian lek'],
  ['AMD', 2, 'Armenian dram'],
  ['AOA', 2, 'Angolan kwanza'],
  ['ARS', 2, 'Argentine peso'],
  ['AUD', 2, 'Australian dollar'],
  ['AWG', 2, 'Aruban florin'],
  ['AZN', 2, 'Azerbaijani manat'],
  ['BAM', 2, 'Bosnian convertible mark'],
  ['BBD', 2, 'Barbadian dollar'],
  ['BDT', 2, 'Bangladeshi taka'],
  ['BHD', 3, 'Bahraini dinar'],
  ['BIF', 0, 'Burundian franc'],
  ['BMD', 2, 'Bermudian dollar'],
  ['BND', 2, 'Brunei dollar'],
  ['BOB', 2, 'Bolivian boliviano'],
  ['BRL', 2, 'Brazilian real'],
  ['BSD', 2, 'Bahamian dollar'],
  ['BTN', 2, 'Bhutanese ngultrum'],
  ['BWP', 2, 'Botswana pula'],
  ['BYN', 2, 'Belarusian ruble'],
  ['BZD', 2, 'Belize dollar'],
  ['CAD', 2, 'Canadian dollar'],
  ['CDF', 2, 'Congolese franc'],
  ['CHF', 2, 'Swiss franc'],
  ['CLP', 0, 'Chilean peso'],
  ['CNY', 2, 'Chinese yuan'],
  ['COP', 2, 'Colombian peso'],
  ['CRC', 2, 'Costa Rican colón'],
  ['CUP', 2, 'Cuban peso'],
  ['CVE', 2, 'Cape Verdean escudo'],
  ['CZK', 2, 'Czech koruna'],
  ['DJF', 0, 'Djiboutian franc'],
  ['DKK', 2, 'Danish krone'],
  ['DOP', 2, 'Dominican peso'],
  ['DZD', 2, 'Algerian dinar'],
  ['EGP', 2, 'Egyptian pound'],
  ['ERN', 2, 'Eritrean nakfa'],
  ['ETB', 2, 'Ethiopian birr'],
  ['EUR', 2, 'Euro'],
  ['FJD', 2, 'Fijian dollar'],
  ['FKP', 2, 'Falkland Islands pound'],
  ['GBP', 2, 'Pound sterling'],
  ['GEL', 2, 'Georgian lari'],
  ['GHS', 2, 'Ghanaian cedi'],
  ['GIP', 2, 'Gibraltar pound'],
  ['GMD', 2, 'Gambian dalasi'],
  ['GNF', 0, 'Guinean franc'],
  ['GTQ', 2, 'Guatemalan quetzal'],
  ['GYD', 2, 'Guyanese dollar'],
  ['HKD', 2, 'Hong Kong dollar'],
  ['HNL', 2, 'Honduran lempira'],
  ['HTG', 2, 'Haitian gourde'],
  ['HUF', 2, 'Hungarian forint'],
  ['IDR', 2, 'Indonesian rupiah'],
  ['ILS', 2, 'Israeli new shekel'],
  ['INR', 2, 'Indian rupee'],
  ['IQD', 3, 'Iraqi dinar'],
  ['IRR', 2, 'Iranian rial'],
  ['ISK', 0, 'Icelandic króna'],
  ['JMD', 2, 'Jamaican dollar'],
  ['JOD', 3, 'Jordanian dinar'],
  ['JPY', 0, 'Japanese yen'],
  ['KES', 2, 'Kenyan shilling'],
  ['KGS', 2, 'Kyrgyz som'],
  ['KHR', 2, 'Cambodian riel'],
  ['KMF', 0, 'Comorian franc'],
  ['KPW', 2, 'North Korean won'],
  ['KRW', 0, 'South Korean won'],
  ['KWD', 3, 'Kuwaiti dinar'],
  ['KYD', 2, 'Cayman Islands dollar'],
  ['KZT', 2, 'Kazakhstani tenge'],
  ['LAK', 2, 'Lao kip'],
  ['LBP', 2, 'Lebanese pound'],
  ['LKR', 2, 'Sri Lankan rupee'],
  ['LRD', 2, 'Liberian dollar'],
  ['LSL', 2, 'Lesotho loti'],
  ['LYD', 3, 'Libyan dinar'],
  ['MAD', 2, 'Moroccan dirham'],
  ['MDL', 2, 'Moldovan leu'],
  ['MGA', 2, 'Malagasy ariary'],
  ['MKD', 2, 'Macedonian denar'],
  ['MMK', 2, 'Myanmar kyat'],
  ['MNT', 2, 'Mongolian tögrög'],
  ['MOP', 2, 'Macanese pataca'],
  ['MRU', 2, 'Mauritanian ouguiya'],
  ['MUR', 2, 'Mauritian rupee'],
  ['MVR', 2, 'Maldivian rufiyaa'],
  ['MWK', 2, 'Malawian kwacha'],
  ['MXN', 2, 'Mexican peso'],
  ['MYR', 2, 'Malaysian ringgit'],
  ['MZN', 2, 'Mozambican metical'],
  ['NAD', 2, 'Namibian dollar'],
  ['NGN', 2, 'Nigerian naira'],
  ['NIO', 2, 'Nicaraguan córdoba'],
  ['NOK', 2, 'Norwegian krone'],
  ['NPR', 2, 'Nepalese rupee'],
  ['NZD', 2, 'New Zealand dollar'],
  ['OMR', 3, 'Omani rial'],
  ['PAB', 2, 'Panamanian balboa'],
  ['PEN', 2, 'Peruvian sol'],
  ['PGK', 2, 'Papua New Guinean kina'],
  ['PHP', 2, 'Philippine peso'],
  ['PKR', 2, 'Pakistani rupee'],
  ['PLN', 2, 'Polish złoty'],
  ['PYG', 0, 'Paraguayan guaraní'],
  ['QAR', 2, 'Qatari riyal'],
  ['RON', 2, 'Romanian leu'],
  ['RSD', 2, 'Serbian dinar'],
  ['RUB', 2, 'Russian ruble'],
  ['RWF', 0, 'Rwandan franc'],
  ['SAR', 2, 'Saudi riyal'],
  ['SBD', 2, 'Solomon Islands dollar'],
  ['SCR', 2, 'Seychellois rupee'],
  ['SDG', 2, 'Sudanese pound'],
  ['SEK', 2, 'Swedish krona'],
  ['SGD', 2, 'Singapore dollar'],
  ['SHP', 2, 'Saint Helena pound'],
  ['SLE', 2, 'Sierra Leonean leone'],
  ['SOS', 2, 'Somali shilling'],
  ['SRD', 2, 'Surinamese dollar'],
  ['SSP', 2, 'South Sudanese pound'],
  ['STN', 2, 'São Tomé and Príncipe dobra'],
  ['SVC', 2, 'Salvadoran colón'],
  ['SYP', 2, 'Syrian pound'],
  ['SZL', 2, 'Swazi lilangeni'],
  ['THB', 2, 'Thai baht'],
  ['TJS', 2, 'Tajikistani somoni'],
  ['TMT', 2, 'Turkmenistani manat'],
  ['TND', 3, 'Tunisian dinar'],
  ['TOP', 2, 'Tongan paʻanga'],
  ['TRY', 2, 'Turkish lira'],
  ['TTD', 2, 'Trinidad and Tobago dollar'],
  ['TWD', 2, 'New Taiwan dollar'],
  ['TZS', 2, 'Tanzanian shilling'],
  ['UAH', 2, 'Ukrainian hryvnia'],
  ['UGX', 0, 'Ugandan shilling'],
  ['USD', 2, 'US dollar'],
  ['UYU', 2, 'Uruguayan peso'],
  ['UZS', 2, 'Uzbekistani sum'],
  ['VED', 2, 'Venezuelan digital bolívar'],
  ['VES', 2, 'Venezuelan bolívar'],
  ['VND', 0, 'Vietnamese đồng'],
  ['VUV', 0, 'Vanuatu vatu'],
  ['WST', 2, 'Samoan tala'],
  ['XAF', 0, 'Central African CFA franc'],
  ['XCD', 2, 'East Caribbean dollar'],
  ['XCG', 2, 'Caribbean guilder'],
  ['XOF', 0, 'West African CFA franc'],
  ['XPF', 0, 'CFP franc'],
  ['YER', 2, 'Yemeni rial'],
  ['ZAR', 2, 'South African rand'],
  ['ZMW', 2, 'Zambian kwacha'],
  ['ZWG', 2, 'Zimbabwe Gold'],
];

/** Sorted by code. */
export const currencies: readonly Currency[] = table.map(([code, exponent, name]) => ({
  code,
  exponent,
  name,
}));

const byCode = new Map(currencies.map((currency) => [currency.code, currency]));

/** Expects the code in upper case, as stored. */
export function findCurrency(code: string): Currency | undefined {
  return byCode.get(code);
}

/** 1250n, 'EUR' -> '12.50 EUR'. Not for negative amounts. */
export function amountText(amount: bigint, currency: string): string {
  const exponent = findCurrency(currency)?.exponent ?? 0;
  const digits = String(amount).padStart(exponent + 1, '0');
  const point = digits.length - exponent;
  return `${digits.slice(0, point)}${exponent === 0 ? '' : `.${digits.slice(point)}`} ${currency}`;
}

/** Sums have no maximum: a value that a JSON number cannot represent exactly is written as text. */
export const AnyAmount = Type.Union([Type.Integer(), Type.String({ pattern: '^-?\\d+$' })], {
  description:
    'Signed minor units. A sum beyond 2^53 is a string, because a JSON number cannot represent it exactly.',
});

export function exact(amount: bigint): number | string {
  const number = Number(amount);
  return Number.isSafeInteger(number) ? number : amount.toString();
}
