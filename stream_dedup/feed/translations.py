"""The same events told in five languages: one fact each, and hardly a run of letters in common."""

from stream_dedup.feed.grammar import Patterns, patterns

_BRIDGE = {
    "en": patterns("""
- The new footbridge over {river} at {town} was opened on {~day} by {person}, the mayor, [after
  {a:2-9} years of building|{a:2-9} years late].
- It is {b:90-400} metres long, cost {c:11-95} million crowns and [sways a little|hums] in a west
  wind.
- "We are no longer two towns that look at each other across the water," the mayor said to some
  {d:200-3000} guests.
- The first to walk across was a {e:5-9}-year-old girl with a dog, the first to fall off a bicycle
  was [the architect|a councillor].
- Boats of more than {f:4-12} metres in height will have to wait, since the bridge cannot be
  opened; the fishermen had asked for that [in vain|until the last day].
"""),
    "de": patterns("""
- Die neue Fußgängerbrücke bei {town} ist am Wochenende von Bürgermeister {person} eröffnet
  worden, [nach {a:2-9} Jahren Bauzeit|mit {a:2-9} Jahren Verspätung].
- Sie misst {b:90-400} Meter, hat {c:11-95} Millionen Kronen gekostet und [schwankt ein
  wenig|summt], wenn der Wind von Westen kommt.
- Man sei nun nicht länger zwei Städte, die einander übers Wasser anschauten, sagte das
  Stadtoberhaupt vor rund {d:200-3000} Gästen.
- Als Erste ging ein {e:5-9} Jahre altes Mädchen mit seinem Hund hinüber; als Erster vom Fahrrad
  fiel [ausgerechnet der Architekt|ein Stadtrat].
- Schiffe, die höher als {f:4-12} Meter sind, müssen künftig warten, denn aufklappen lässt sich
  das Bauwerk nicht; die Fischer hatten das [vergeblich|bis zuletzt] gefordert.
"""),
    "fr": patterns("""
- La nouvelle passerelle de {town} a été inaugurée ce week-end par le maire, {person}, [après
  {a:2-9} ans de travaux|avec {a:2-9} ans de retard].
- Longue de {b:90-400} mètres, elle a coûté {c:11-95} millions de couronnes et [oscille
  légèrement|bourdonne] par vent d'ouest.
- « Nous ne sommes plus deux villes qui se regardent par-dessus l'eau », a déclaré l'élu devant
  quelque {d:200-3000} invités.
- Une fillette de {e:5-9} ans et son chien ont traversé les premiers ; le premier à tomber de vélo
  fut [l'architecte en personne|un conseiller municipal].
- Les bateaux dépassant {f:4-12} mètres de hauteur devront patienter, l'ouvrage ne pouvant
  s'ouvrir ; les pêcheurs l'avaient [pourtant demandé|réclamé jusqu'au dernier jour].
"""),
    "it": patterns("""
- La nuova passerella pedonale di {town} è stata inaugurata nel fine settimana dal sindaco
  {person}, [dopo {a:2-9} anni di lavori|con {a:2-9} anni di ritardo].
- È lunga {b:90-400} metri, è costata {c:11-95} milioni di corone e [ondeggia un poco|ronza]
  quando il vento soffia da ovest.
- «Non siamo più due città che si guardano da una riva all'altra», ha detto il primo cittadino a
  circa {d:200-3000} invitati.
- La prima ad attraversarla è stata una bambina di {e:5-9} anni con il cane; il primo a cadere
  dalla bicicletta, [l'architetto|un assessore].
- Le imbarcazioni più alte di {f:4-12} metri dovranno aspettare, perché il ponte non si apre: i
  pescatori lo avevano chiesto [inutilmente|fino all'ultimo giorno].
"""),
    "es": patterns("""
- El alcalde {person} inauguró el fin de semana la nueva pasarela peatonal de {town}, [tras
  {a:2-9} años de obras|con {a:2-9} años de retraso].
- Mide {b:90-400} metros, ha costado {c:11-95} millones de coronas y [se balancea un poco|zumba]
  cuando sopla viento del oeste.
- «Ya no somos dos pueblos que se miran desde orillas opuestas», dijo ante unos {d:200-3000}
  invitados que aguantaban la lluvia.
- La primera en cruzar fue una niña de {e:5-9} años con su perro; el primero en caerse de la
  bicicleta, [el propio arquitecto|un concejal].
- Los barcos de más de {f:4-12} metros de altura tendrán que esperar, porque el puente no puede
  abrirse; los pescadores lo habían pedido [en vano|hasta el último día].
"""),
}

_STORM = {
    "en": patterns("""
- A storm with gusts of {a:101-168} kilometres an hour has torn roofs off {b:20-140} houses in and
  around {town}, [most of them old|and taken the weathercock with it].
- No one was hurt; {c:300-4000} households were without light for {d:3-30} hours.
- {person} of the fire brigade spoke of {e:60-400} calls in one night, more than in the whole of
  last winter.
- The harbour [stayed closed|reopened at noon], and the ferry, with {f:40-290} people on board,
  waited outside until the sea had calmed down.
- Woodlands are out of bounds for {g:3-14} days because of branches that may still fall, the
  foresters warn.
"""),
    "de": patterns("""
- Ein Sturm mit Böen von {a:101-168} Stundenkilometern hat in {town} und Umgebung {b:20-140}
  Häuser abgedeckt, [die meisten davon alt|und auch den Wetterhahn mitgenommen].
- Verletzt wurde niemand; {c:300-4000} Haushalte saßen {d:3-30} Stunden lang im Dunkeln.
- {person} von der Feuerwehr sprach von {e:60-400} Einsätzen in einer einzigen Nacht, mehr als im
  ganzen vergangenen Winter.
- Der Hafen [blieb gesperrt|öffnete mittags wieder], die Fähre mit {f:40-290} Menschen an Bord lag
  draußen vor Anker, bis sich die See beruhigt hatte.
- Wegen herabfallender Äste darf der Wald {g:3-14} Tage lang nicht betreten werden, warnen die
  Förster.
"""),
    "fr": patterns("""
- Une tempête accompagnée de rafales à {a:101-168} kilomètres à l'heure a arraché la toiture de
  {b:20-140} maisons à {town} et aux alentours, [anciennes pour la plupart|sans épargner le coq du
  clocher].
- On ne déplore aucun blessé, mais {c:300-4000} foyers sont restés privés de courant pendant
  {d:3-30} heures.
- Selon {person}, des sapeurs-pompiers, {e:60-400} appels ont été reçus en une nuit, davantage que
  durant tout l'hiver dernier.
- Le port [est demeuré fermé|a rouvert à midi] ; le bac et ses {f:40-290} passagers ont attendu au
  large que la mer se calme.
- Les forêts sont interdites {g:3-14} jours durant, des branches menaçant encore de tomber,
  préviennent les gardes.
"""),
    "it": patterns("""
- Una tempesta con raffiche a {a:101-168} chilometri orari ha scoperchiato {b:20-140} case a
  {town} e nei dintorni, [quasi tutte antiche|portandosi via anche il galletto del campanile].
- Nessun ferito; {c:300-4000} famiglie sono rimaste senza luce per {d:3-30} ore.
- {person}, dei vigili del fuoco, parla di {e:60-400} chiamate in una sola notte, più che in tutto
  lo scorso inverno.
- Il porto [è rimasto chiuso|ha riaperto a mezzogiorno] e il traghetto, con {f:40-290} persone a
  bordo, ha atteso al largo che il mare si placasse.
- Nei boschi non si entra per {g:3-14} giorni: altri rami potrebbero cadere, avvertono le guardie
  forestali.
"""),
    "es": patterns("""
- Un temporal con rachas de {a:101-168} kilómetros por hora ha arrancado los tejados de {b:20-140}
  casas en {town} y sus alrededores, [casi todas antiguas|y se ha llevado hasta la veleta].
- No hubo heridos; {c:300-4000} hogares pasaron {d:3-30} horas sin luz.
- {person}, del cuerpo de bomberos, habló de {e:60-400} avisos en una noche, más que en todo el
  invierno pasado.
- El puerto [sigue cerrado|reabrió a mediodía] y el transbordador, con {f:40-290} personas a
  bordo, esperó mar adentro a que amainara el oleaje.
- Queda prohibido entrar en los bosques durante {g:3-14} días, pues aún pueden caer ramas,
  advierten los guardas.
"""),
}

_PICTURE = {
    "en": patterns("""
- A painting that hung for {a:20-90} years above the stove of an inn in {town} has been sold for
  {b:2-40} million crowns, [{c:9-60} times the estimate|to a buyer on the telephone].
- Nobody had thought much of the small winter scene, black with soot, until {person}, an art
  historian, came in out of the rain.
- It was cleaned for {d:4-20} months, and a signature came to light behind [a frozen mill|the
  third skater].
- The landlady means to mend the roof and to give her {e:3-12} employees a year's pay.
- In the place of the picture there now hangs a copy, {f:20-90} by {g:20-70} centimetres, which
  the regulars like [better|just as well].
"""),
    "de": patterns("""
- Ein Gemälde, das {a:20-90} Jahre lang über dem Ofen eines Gasthauses in {town} hing, ist für
  {b:2-40} Millionen Kronen versteigert worden, [das {c:9-60}-Fache des Schätzpreises|an einen
  Bieter am Telefon].
- Niemand hatte die kleine, rußgeschwärzte Winterlandschaft beachtet, bis {person}, Fachmann für
  alte Kunst, vor dem Regen hereinflüchtete.
- {d:4-20} Monate dauerte die Reinigung, dann zeigte sich eine Signatur hinter [einer vereisten
  Mühle|dem dritten Schlittschuhläufer].
- Die Wirtin will das Dach flicken lassen und ihren {e:3-12} Angestellten ein Jahresgehalt
  schenken.
- An der Wand hängt jetzt eine Kopie, {f:20-90} mal {g:20-70} Zentimeter groß, die den Stammgästen
  [besser|genauso gut] gefällt.
"""),
    "fr": patterns("""
- Un tableau accroché depuis {a:20-90} ans au-dessus du poêle d'une auberge de {town} vient d'être
  adjugé {b:2-40} millions de couronnes, [soit {c:9-60} fois l'estimation|au téléphone].
- Personne ne prêtait attention à ce petit paysage d'hiver noirci par la suie, jusqu'au jour où
  {person}, historien de l'art, s'abrita de l'averse.
- Après {d:4-20} mois de nettoyage, une signature est apparue derrière [un moulin pris par la
  glace|le troisième patineur].
- La patronne compte réparer la toiture et offrir un an de salaire à ses {e:3-12} employés.
- Au mur pend désormais une copie de {f:20-90} centimètres sur {g:20-70}, que les habitués
  trouvent [plus belle|tout aussi belle].
"""),
    "it": patterns("""
- Un quadro rimasto per {a:20-90} anni sopra la stufa di una locanda di {town} è stato battuto
  all'asta per {b:2-40} milioni di corone, [{c:9-60} volte la stima|al telefono].
- Nessuno badava a quel piccolo paesaggio invernale annerito dalla fuliggine, finché {person},
  storico dell'arte, non entrò per ripararsi dalla pioggia.
- La pulitura è durata {d:4-20} mesi, poi è affiorata una firma dietro [un mulino ghiacciato|il
  terzo pattinatore].
- L'ostessa intende rifare il tetto e regalare un anno di stipendio ai suoi {e:3-12} dipendenti.
- Alla parete ora c'è una copia di {f:20-90} centimetri per {g:20-70}, che ai clienti abituali
  piace [di più|altrettanto].
"""),
    "es": patterns("""
- Un cuadro que llevaba {a:20-90} años colgado sobre la estufa de una posada de {town} se ha
  subastado por {b:2-40} millones de coronas, [{c:9-60} veces su tasación|a un comprador por
  teléfono].
- Nadie reparaba en aquel pequeño paisaje nevado, negro de hollín, hasta que {person}, historiador
  del arte, entró huyendo del chaparrón.
- Tras {d:4-20} meses de limpieza apareció una firma detrás de [un molino helado|el tercer
  patinador].
- La posadera quiere arreglar el tejado y regalar un año de sueldo a sus {e:3-12} empleados.
- En la pared cuelga ahora una copia de {f:20-90} por {g:20-70} centímetros, que a los
  parroquianos les gusta [más|lo mismo].
"""),
}

_BREAD = {
    "en": patterns("""
- In {town}, {a:200-1900} people queued for bread on {~day} after all but one of the town's bakers
  had [gone on strike|caught the same cold].
- {person}, {b:61-84}, who had in fact retired, lit the oven at two and baked {c:300-2400} loaves
  with {d:2-9} neighbours.
- A loaf cost {e:2-9} crowns, as it did when the old man closed his shop; some paid double and
  took away half.
- Behind the strike is a quarrel about night work, which is to be paid {f:3-19} per cent better
  from autumn.
- The two sides will talk again in {g:2-12} days, the union says, and [until then there is
  porridge|not a minute sooner].
"""),
    "de": patterns("""
- In {town} haben am Samstag {a:200-1900} Menschen für Brot angestanden, weil bis auf einen alle
  Bäcker [die Arbeit niedergelegt hatten|erkältet im Bett lagen].
- {person}, {b:61-84} und eigentlich im Ruhestand, heizte um zwei Uhr den Ofen an und buk mit
  {d:2-9} Nachbarn {c:300-2400} Laibe.
- Einer kostete {e:2-9} Kronen, so viel wie damals, als der Laden schloss; manche zahlten doppelt
  und nahmen nur einen halben.
- Hintergrund ist ein Streit um die Nachtarbeit, die ab Herbst mit {f:3-19} Prozent mehr vergütet
  werden soll.
- Verhandelt wird erst in {g:2-12} Tagen wieder, heißt es bei der Gewerkschaft; [bis dahin gibt es
  Brei|keine Minute früher].
"""),
    "fr": patterns("""
- À {town}, {a:200-1900} personnes ont fait la queue samedi pour du pain, tous les boulangers sauf
  un [étant en grève|gardant le lit, enrhumés].
- {person}, {b:61-84} ans, pourtant à la retraite, a rallumé son four à deux heures et cuit
  {c:300-2400} miches avec {d:2-9} voisins.
- Le prix, {e:2-9} couronnes, était celui du jour où il avait fermé boutique ; certains payaient
  le double pour une moitié.
- À l'origine du conflit, le travail de nuit, qui doit être payé {f:3-19} pour cent de plus dès
  l'automne.
- Les discussions reprendront dans {g:2-12} jours, assure le syndicat, [d'ici là on mangera de la
  bouillie|et pas une minute avant].
"""),
    "it": patterns("""
- A {town} sabato {a:200-1900} persone si sono messe in fila per il pane: tutti i fornai tranne
  uno [erano in sciopero|stavano a letto raffreddati].
- {person}, {b:61-84} anni, in realtà già in pensione, ha acceso il forno alle due e con {d:2-9}
  vicini ha sfornato {c:300-2400} pagnotte.
- Costavano {e:2-9} corone l'una, come quando aveva chiuso bottega; qualcuno ha pagato il doppio
  portandone via mezza.
- All'origine c'è la vertenza sul lavoro notturno, che dall'autunno va retribuito il {f:3-19} per
  cento in più.
- Si tratterà di nuovo fra {g:2-12} giorni, fa sapere il sindacato, [e intanto polenta|non un
  minuto prima].
"""),
    "es": patterns("""
- En {town}, {a:200-1900} personas hicieron cola el sábado para comprar pan, porque todos los
  panaderos menos uno [estaban en huelga|guardaban cama, resfriados].
- {person}, de {b:61-84} años y en teoría jubilado, encendió el horno a las dos y coció
  {c:300-2400} hogazas junto a {d:2-9} vecinos.
- Cada una costaba {e:2-9} coronas, lo mismo que cuando cerró la tienda; hubo quien pagó el doble
  y se llevó la mitad.
- Detrás está la disputa por el trabajo nocturno, que desde el otoño deberá pagarse un {f:3-19}
  por ciento más.
- Las partes volverán a hablar dentro de {g:2-12} días, según el sindicato, [y mientras tanto,
  gachas|ni un minuto antes].
"""),
}

LANGUAGES = ("en", "de", "fr", "it", "es")
EVENTS: tuple[dict[str, Patterns], ...] = (_BRIDGE, _STORM, _PICTURE, _BREAD)
