"""Sentences that fit any of the events, in one order in all languages."""

from stream_dedup.feed.grammar import Patterns, patterns

ASIDES: dict[str, Patterns] = {
    "en": patterns("""
- In the evening {h:20-400} people stood in the square and sang, rather badly, until the lamps
  went out.
- Letters of congratulation, and one of complaint, are still arriving at the town hall, {i:30-900}
  so far.
- A photographer who had come from far away was {j:5-50} minutes late and took pictures of the
  gulls instead.
- The school has given its pupils {k:2-5} days to write an essay about it.
- Whoever lost a grey glove or a left shoe may fetch it from the porter, who has found {l:3-30} of
  them.
- On the radio a professor explained for {m:11-55} minutes why nothing like it will ever happen
  again.
- The inn served {n:100-900} portions of soup and then shut, because there were no more spoons.
"""),
    "de": patterns("""
- Am Abend standen {h:20-400} Leute auf dem Marktplatz und sangen, eher schlecht, bis die Lampen
  ausgingen.
- Noch immer treffen Glückwünsche und eine Beschwerde im Rathaus ein, bisher {i:30-900} Schreiben.
- Ein von weit her angereister Fotograf kam {j:5-50} Minuten zu spät und nahm stattdessen die
  Möwen auf.
- Die Schule hat ihren Schülern {k:2-5} Tage Zeit für einen Aufsatz darüber gegeben.
- Wer einen grauen Handschuh oder einen linken Schuh vermisst, kann ihn beim Pförtner abholen, der
  {l:3-30} Stück gefunden hat.
- Im Rundfunk erklärte eine Professorin {m:11-55} Minuten lang, weshalb dergleichen nie wieder
  vorkommen werde.
- Das Wirtshaus gab {n:100-900} Teller Suppe aus und schloss dann, weil die Löffel fehlten.
"""),
    "fr": patterns("""
- Le soir venu, {h:20-400} habitants ont chanté sur la place, assez mal, jusqu'à l'extinction des
  réverbères.
- Félicitations et réclamation, une seule, continuent d'affluer à la mairie : {i:30-900} plis à ce
  jour.
- Venu de loin, un photographe est arrivé {j:5-50} minutes trop tard et s'est rabattu sur les
  mouettes.
- L'école accorde {k:2-5} jours aux élèves pour rédiger une composition à ce sujet.
- Ceux qui cherchent un gant gris ou une chaussure gauche peuvent s'adresser au concierge, qui en
  a ramassé {l:3-30}.
- À la radio, une universitaire a expliqué {m:11-55} minutes durant pourquoi cela ne se
  reproduirait jamais.
- L'auberge a servi {n:100-900} bols de potage avant de fermer, faute de cuillères.
"""),
    "it": patterns("""
- La sera {h:20-400} abitanti si sono ritrovati in piazza a cantare, piuttosto male, finché i
  lampioni non si sono spenti.
- In municipio continuano ad arrivare congratulazioni e un solo reclamo: finora {i:30-900}
  lettere.
- Un fotografo venuto da lontano, in ritardo di {j:5-50} minuti, ha ripiegato sui gabbiani.
- La scuola concede agli alunni {k:2-5} giorni per scriverci un tema.
- Chi avesse perso un guanto grigio o una scarpa sinistra può rivolgersi al portinaio, che ne ha
  raccolti {l:3-30}.
- Alla radio una docente ha spiegato per {m:11-55} minuti perché nulla di simile potrà ripetersi.
- La trattoria ha servito {n:100-900} scodelle di minestra e poi ha chiuso: mancavano i cucchiai.
"""),
    "es": patterns("""
- Por la noche {h:20-400} vecinos cantaron en la plaza, bastante mal, hasta que se apagaron las
  farolas.
- Al ayuntamiento siguen llegando felicitaciones y una sola queja: hasta ahora, {i:30-900} cartas.
- Un fotógrafo venido de lejos llegó {j:5-50} minutos tarde y se conformó con retratar a las
  gaviotas.
- La escuela ha dado a los alumnos {k:2-5} días para que escriban una redacción sobre el asunto.
- Quien haya perdido un guante gris o un zapato izquierdo puede pasar por la portería, donde
  guardan {l:3-30}.
- En la radio una catedrática explicó durante {m:11-55} minutos por qué no volverá a suceder nada
  parecido.
- El mesón sirvió {n:100-900} platos de sopa y cerró luego, porque se habían acabado las cucharas.
"""),
}
