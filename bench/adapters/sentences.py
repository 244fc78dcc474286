"""What the voices say: everyday sentences of a service, without digits or abbreviations, which the peers cannot read."""

TEXTS = [
    "Karibu katika huduma kwa wateja.",
    "Bonyeza moja kwa Kiswahili, mbili kwa Kiingereza, au subiri kuzungumza na mhudumu.",
    "Salio lako ni shilingi elfu tatu mia mbili na hamsini.",
    "Mvua kubwa inatarajiwa kunyesha kesho asubuhi katika maeneo ya pwani, hivyo wakulima wanashauriwa kuchukua tahadhari.",
    "Je, ungependa kuendelea na malipo haya?",
    "Daktari atakuona saa nne asubuhi siku ya Jumatano, tafadhali fika mapema.",
    "Watoto wote wanapaswa kupata chanjo kabla ya kuanza shule.",
    "Bei ya mahindi imepanda sokoni, lakini wakulima wanasema mavuno ya mwaka huu yatakuwa mazuri.",
    "Basi la kwenda Mombasa litaondoka saa mbili usiku kutoka kituo kikuu.",
    "Samahani, sikukusikia vizuri. Tafadhali sema tena.",
    "Ombi lako limepokelewa na litashughulikiwa ndani ya siku tatu za kazi.",
    "Asante kwa kutupigia, tunakutakia siku njema.",
]
