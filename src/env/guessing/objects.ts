/** Everyday things and what is true of them: our own small table for twenty questions. */

const table = `
dog: animal legs sound pet house
cat: animal legs pet house climbs small
horse: animal legs big sound ridden
cow: animal legs big sound food
elephant: animal legs big grey
mouse: animal legs small grey
eagle: animal legs flies
owl: animal legs flies sound night
penguin: animal legs swims
shark: animal swims big grey sharp
goldfish: animal swims small pet house
snake: animal long
spider: animal legs small climbs
bee: animal legs flies small sound sharp
frog: animal legs small swims sound
oak: plant big wooden climbs
rose: plant small sharp garden
cactus: plant sharp
grass: plant small garden
sunflower: plant garden food
apple: plant food small round
banana: plant food long
carrot: plant food long garden
onion: plant food round garden
bread: food house
cheese: food round
egg: food small round
cake: food round house sweet
ice cream: food cold sweet
chocolate: food small sweet
hammer: tool metal
saw: tool metal sharp
knife: tool metal sharp kitchen house
spoon: tool metal kitchen house small
scissors: tool metal sharp house small
needle: tool metal sharp small long
ladder: tool wooden long climbs legs
broom: tool wooden long house
bucket: tool round
umbrella: tool worn
bicycle: vehicle wheels metal ridden
car: vehicle wheels metal big motor
bus: vehicle wheels metal big motor long
train: vehicle wheels metal big motor long sound
boat: vehicle wooden big swims
aeroplane: vehicle wheels metal big motor flies
helicopter: vehicle metal big motor flies sound
scooter: vehicle wheels metal ridden small
table: furniture wooden legs house
chair: furniture wooden legs house small
bed: furniture wooden legs house big night
bookcase: furniture wooden house big
mirror: furniture house
lamp: furniture electric house night
piano: instrument wooden big sound house
violin: instrument wooden small sound
drum: instrument round sound
trumpet: instrument metal sound
guitar: instrument wooden sound
telephone: electric sound house small
television: electric sound house
computer: electric house
refrigerator: electric cold kitchen house big
oven: electric kitchen house metal
hat: clothes worn round
shoe: clothes worn
glove: clothes worn small
coat: clothes worn long
ring: metal worn small round
ball: round toy
kite: flies toy
doll: toy house legs
`;

/** What is asked, by the mark in the table. */
const questionOf: Readonly<Record<string, string>> = {
  animal: "is it an animal",
  plant: "is it a plant or part of one",
  food: "can you eat it",
  tool: "is it a tool",
  vehicle: "does it carry people from place to place",
  furniture: "is it furniture",
  instrument: "does it make music",
  electric: "does it need electricity",
  clothes: "is it made of cloth or leather",
  toy: "is it a toy",
  legs: "does it have legs",
  sound: "is it loud",
  pet: "is it kept as a pet",
  house: "is it found in a house",
  climbs: "does it have to do with climbing",
  small: "does it fit in a hand",
  big: "is it heavier than a person",
  grey: "is it grey",
  ridden: "is it ridden",
  flies: "does it fly",
  swims: "does it swim",
  night: "does it belong to the night",
  sharp: "is it sharp",
  long: "is it long",
  round: "is it round",
  wooden: "is it made of wood",
  metal: "is it made of metal",
  garden: "does it grow in a garden",
  sweet: "is it sweet",
  cold: "is it cold",
  kitchen: "is it found in a kitchen",
  worn: "is it worn or held over the head",
  wheels: "does it have wheels",
  motor: "does it have a motor",
};

/** Seventy-two things with yes or no to each of thirty-four questions; no two have the same answers. */
export const objects = table
  .trim()
  .split("\n")
  .map((row) => {
    const [name = "", marks = ""] = row.split(": ");
    const has = new Set(marks.split(" "));
    const answers = Object.entries(questionOf).map(([mark, question]): [string, string] => [
      question,
      has.has(mark) ? "yes" : "no",
    ]);
    return { name, answers: Object.fromEntries(answers) };
  });
