/** A few sentences of prose in many scripts. */
export const LANGUAGES: Readonly<Record<string, string>> = {
  English:
    "This morning researchers announced a discovery that may change how we think about light and time. They didn't expect it, and it's not yet clear what it means.",
  German:
    'Heute Morgen haben Forscherinnen eine Entdeckung bekannt gegeben, die unser Verständnis von Licht und Zeit verändern könnte. Das Bundesverfassungsgericht schwieg.',
  French:
    "Ce matin, des chercheurs ont annoncé une découverte qui pourrait changer l'idée que l'on se fait de la lumière. Aujourd'hui, personne n'en sait davantage.",
  Finnish: 'Tänä aamuna tutkijat ilmoittivat löydöstä, joka saattaa muuttaa käsitystämme valosta ja ajasta.',
  Vietnamese: 'Sáng nay các nhà khoa học đã công bố một phát hiện mới có thể thay đổi hiểu biết của chúng ta.',
  Russian: 'Сегодня утром учёные сообщили об открытии, которое может изменить представление о природе света и времени.',
  Greek: 'Σήμερα το πρωί οι ερευνητές ανακοίνωσαν μια ανακάλυψη που μπορεί να αλλάξει όσα ξέρουμε για το φως.',
  Arabic: 'أعلن العلماء صباح اليوم عن اكتشاف جديد قد يغير فهمنا لطبيعة الضوء والزمن، ولا يعرف أحد ما يعنيه.',
  Persian: 'امروز صبح پژوهشگران کشف تازه‌ای را اعلام کردند که می‌تواند درک ما از نور و زمان را دگرگون کند.',
  Hebrew: 'הבוקר הודיעו מדענים על תגלית חדשה שעשויה לשנות את הבנתנו את טבע האור והזמן.',
  Hindi: 'आज सुबह वैज्ञानिकों ने एक नई खोज की घोषणा की जो प्रकाश और समय के बारे में हमारी समझ को बदल सकती है।',
  Tamil: 'இன்று காலை விஞ்ஞானிகள் ஒளி மற்றும் காலத்தைப் பற்றிய நமது புரிதலை மாற்றக்கூடிய கண்டுபிடிப்பை அறிவித்தனர்.',
  Chinese: '今天早上，科学家们宣布了一项新的发现，这可能会改变我们对光和时间本质的理解。目前还没有人知道这意味着什么。',
  Japanese:
    '今朝、研究者たちは光と時間についての理解を変えるかもしれない新しい発見を発表しました。ご覧いただき、ありがとうございました。',
  Korean: '오늘 아침 과학자들은 빛과 시간에 대한 이해를 바꿀 수 있는 새로운 발견을 발표했습니다. 감사합니다.',
  Thai: 'เมื่อเช้านี้นักวิทยาศาสตร์ประกาศการค้นพบใหม่ที่อาจเปลี่ยนความเข้าใจของเราเกี่ยวกับแสงและเวลา ที่กรุงเทพมหานครของประเทศไทย',
  Khmer: 'ព្រឹកនេះ អ្នកវិទ្យាសាស្ត្របានប្រកាសពីការរកឃើញថ្មីដែលអាចផ្លាស់ប្តូរការយល់ដឹងរបស់យើងអំពីពន្លឺ។',
  Burmese: 'ယနေ့နံနက်တွင် သိပ္ပံပညာရှင်များက အလင်းနှင့်အချိန်ကို နားလည်မှုပြောင်းလဲစေနိုင်သည့် တွေ့ရှိမှုကို ကြေညာခဲ့သည်။',
  emoji: 'Great 👍🏽 job 🎉🎉🎉 team 👨‍👩‍👧 😂😂😂😂 🇨🇭🇫🇷 ❤️❤️ ♀♀♀♀♀♀ 🙂',
}
