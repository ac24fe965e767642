"""The words that stories are told with: places, people and things of a country that is nowhere."""

from typing import NamedTuple


class Outlet(NamedTuple):
    """Who publishes: a name, and the code that the ids of its documents begin with."""

    name: str
    code: str


AGENCIES = (
    Outlet("Harbour Wire", "hw"),
    Outlet("Varn Press Agency", "vp"),
    Outlet("North Line News", "nl"),
)
PAPERS = (
    Outlet("Ostrel Gazette", "og"),
    Outlet("Marlow Post", "mp"),
    Outlet("Island Bulletin", "ib"),
    Outlet("The Dispatch of Varn", "td"),
    Outlet("Tessaly Bay Times", "tb"),
    Outlet("Brenn Chronicle", "bc"),
    Outlet("Evening Lamp", "el"),
    Outlet("Aller Valley Record", "av"),
    Outlet("Radio Kessel", "rk"),
    Outlet("The Quillon Reader", "qr"),
    Outlet("Northern Farmer", "nf"),
    Outlet("Drumsey Courier", "dc"),
    Outlet("Wintersea Mercury", "wm"),
    Outlet("Daily Compass", "dy"),
    Outlet("The Morning Ferry", "mf"),
    Outlet("Easterholt Observer", "eo"),
)
WEATHER = Outlet("Varn Weather", "vw")
EXCHANGE = Outlet("Brenn Exchange Notices", "bx")
RESULTS = Outlet("Touchline", "tl")
ABROAD = {
    "en": Outlet("Harbour Wire", "hw"),
    "de": Outlet("Allertaler Anzeiger", "aa"),
    "fr": Outlet("Le Phare de Quillon", "pq"),
    "it": Outlet("Corriere di Sarvena", "cs"),
    "es": Outlet("El Faro del Norte", "fn"),
}

_LISTS = """
town: Ostrel; Brenn; Marlow; Varnholm; Sarvena; Lindmoor; Kessel; Quillon; Drumsey; Easterholt;
  Vellaby; Norrick; Tarnsey; Orrisund; Glaven; Hexmoor; Saltby; Thornwick; Ulverby; Corvale;
  Ashgrave; Wintersea; Pellow; Ruxley; Dunmere; Fallowby; Gorsedale; Halvik; Ingram; Jessop;
  Karrow; Lannick; Mossend; Oakhaven; Rathby; Sillow; Torvane; Upwell; Wexcombe; Yarrow
first: Mira; Piet; Anselm; Ida; Joren; Lotte; Karim; Beata; Oskar; Nadia; Tomas; Rhea; Viktor;
  Elin; Samir; Greta; Hugo; Pilar; Magnus; Iris; Dario; Freya; Emil; Zofia; Rasmus; Carla; Henrik;
  Amina; Ludo; Petra; Yusuf; Signe; Marco; Tilda; Anton; Leonie; Ravi; Judit; Casper; Noor;
  Stefan; Hanne; Milan; Ottilie; Bruno; Salma; Erik; Vera; Joachim; Maud
last: Tolvan; Ansgar; Merrow; Halloran; Vance; Brandt; Okoro; Lindqvist; Sarkis; Pellegrin;
  Danvers; Kowal; Ostrander; Feyer; Marchetti; Holm; Rask; Delgado; Ibsworth; Nakata; Vetter;
  Quayle; Strand; Moreau; Haldane; Pryce; Zeller; Amadi; Bergstrom; Castell; Dorrance; Eklund;
  Farrow; Grieve; Hask; Ivarsen; Jarvis; Keller; Lomas; Mandel; Nyberg; Orme; Pask; Roth; Selwyn;
  Thorne; Ullman; Vidal; Wren; Yates
person: {~first} {~last}
firm: {~last} [Electric|Foods|Shipping|Timber|Glass|Textiles|Motors|Dairies|Paper|Instruments];
  {~town} [Electric|Foods|Shipping|Timber|Glass|Textiles|Motors|Dairies|Paper|Instruments]
composer: {~first} von {~town}; {~first} {~last} the Elder
street: {~last} Street; {~town} Road; [Heron|Swift|Lapwing|Curlew|Wren|Kestrel] Lane; {~tree}
  Avenue; {~last} Square
school: {~last} School; {~town} Grammar School; the {~tree} Street school
club: {~town} [Rovers|United|Athletic|Harriers|Wanderers|Borough]
river: the [Aller|Ostra|Varn|Mell|Tarn|Hask|Silver Brook|Great Ouzel|Linnet|Dun]
union: the [Transport|Dockers'|Teachers'|Bakers'|Nurses'|Postal|Miners'|Glassworkers'] Union
office: the [provincial|regional|district|municipal] [water|planning|land|works|audit] office; the
  [Coastal|Inland|Northern|Southern] [Transport|Harbour|Forestry|Housing] Board; the
  [Fisheries|Railway|Heritage|Consumer|Energy|Schools] Authority
university: the University of {~town}; {~town} Polytechnic; the {~last} Institute
day: Monday; Tuesday; Wednesday; Thursday; Friday; Saturday; Sunday
month: January; February; March; April; May; June; July; August; September; October
daytime: shortly before dawn; at noon; in the late afternoon; just after midnight; during the
  evening rush; early in the morning; while most people were at supper
colour: blue; green; crimson; ochre; grey; violet; scarlet; turquoise; amber; ivory
bird: heron; swift; lapwing; curlew; wren; kestrel; plover; gannet; starling; rook
tree: Linden; Alder; Rowan; Chestnut; Willow; Hawthorn; Elm; Juniper; Larch; Walnut
animal: goat; heron; otter; swan; donkey; badger; pig; parrot; llama; tortoise; stork; sheepdog;
  beaver; owl; calf; ferret
crop: barley; plums; hops; potatoes; cherries; rapeseed; oats; cabbages; apples; onions; pumpkins;
  lentils
food: smoked eel; rye bread; plum dumplings; sheep's cheese; pickled herring; honey cake; barley
  soup; liquorice; cider; mustard; blackcurrant jam
goods: copper cable; church candlesticks; outboard motors; rare stamps; espresso machines; garden
  tractors; violins; fur coats; racing bicycles; chocolate eggs; wristwatches; solar panels; oak
  barrels; telescopes
vehicle: a white van; a milk lorry; two motorcycles; a rented minibus; a rowing boat; an old
  hearse; a delivery bicycle; a horsebox; a stolen taxi
trade: baker; retired teacher; ferry captain; beekeeper; bus driver; dentist; postman; librarian;
  roofer; cellist; fishmonger; locksmith; nurse; farmer; student; organist; crane operator;
  florist
building: town hall; fish market; old brewery; public library; railway station; swimming hall;
  grain store; observatory; tram depot; concert hall; windmill
plant: cement works; sugar refinery; paper mill; glassworks; dairy; shipyard; tannery; brickworks;
  cannery; power station
instrument: cello; accordion; barrel organ; trombone; zither; viola; bassoon
mood: relieved; furious; puzzled; delighted; tired; proud; sceptical; hopeful; amused; speechless;
  cautious; impatient
press: told {~outlet}; told reporters; said; said by telephone; said on {~day}; wrote in a letter;
  told a packed hall; said outside the building
crowns: {2-90}.{1-9} million crowns; {11-980},000 crowns; some {2-9} million crowns; well over
  {12-95},000 crowns
spell: {2-11} weeks; {3-20} months; {2-9} years; a decade; a single night; {3-30} days; half a
  year; two summers
"""


def _read(lists: str) -> dict[str, tuple[str, ...]]:
    """Read the lists: a name and a colon begin one, semicolons part its words."""
    named = (line.split(": ", 1) for line in lists.replace("\n  ", " ").strip().splitlines())
    return {name: tuple(words.split("; ")) for name, words in named}


WORDS = _read(_LISTS) | {"outlet": tuple(paper.name for paper in PAPERS)}
