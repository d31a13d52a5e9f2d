package eval

import "fmt"

// The other items that a clash hides among are made, not collected: ten rules for each of twenty-five subjects, once in English and
// once in Russian. They are plausible and near each other, as rules of one house are, but more alike among themselves than
// a grown corpus: recall on them is a lower bar than recall on yours.

var subjectsEN = []string{"the image service", "payroll", "the ticket queue", "the greenhouse", "the mobile app", "the archive", "the search index",
	"the workshop", "the data export", "the call centre", "the cluster", "the kitchen", "the documentation", "the test suite", "the warehouse",
	"the newsletter", "the booking page", "the bus line", "the message broker", "the school office", "the pharmacy", "the message catalogue",
	"the build farm", "the shop floor", "the access log"}

var rulesEN = []string{
	"Whoever changes %s says so in the weekly note.",
	"A fault in %s is written down on the day it is noticed.",
	"There is a named person who answers for %s.",
	"Costs of %s are looked at every quarter.",
	"A visitor may see %s only in company.",
	"Old records about %s go to the basement after three years.",
	"Work on %s is planned on Tuesdays.",
	"Two people know how to run %s alone.",
	"Numbers about %s are rounded to whole units in reports.",
	"Complaints about %s are answered within two days.",
}

var subjectsRU = []string{"сервис картинок", "расчёт зарплаты", "очередь заявок", "теплица", "мобильное приложение", "архив", "поисковый индекс",
	"мастерская", "выгрузка данных", "справочная служба", "кластер", "столовая", "документация", "набор тестов", "склад", "рассылка", "страница брони",
	"автобусный маршрут", "брокер сообщений", "канцелярия школы", "аптека", "словарь переводов", "сборочная ферма", "торговый зал", "журнал доступа"}

var rulesRU = []string{
	"%s: новые сотрудники знакомятся с порядком в первый день.",
	"%s: расписание вывешивают за неделю.",
	"%s: ответственного назначают приказом.",
	"%s: проверку проводят дважды в год.",
	"%s: замечания собирает старший смены.",
	"%s: запасной план лежит в общей папке.",
	"%s: о простое сообщают в общий чат.",
	"%s: расходы согласуют заранее.",
	"%s: посторонних без сопровождения не пускают.",
	"%s: итоги месяца разбирают на планёрке.",
}

// others are the 500 items beside those of the clashes, always the same.
func others() []Side {
	out := make([]Side, 0, len(subjectsEN)*len(rulesEN)+len(subjectsRU)*len(rulesRU))
	for _, in := range []struct{ subjects, rules []string }{{subjectsEN, rulesEN}, {subjectsRU, rulesRU}} {
		for _, s := range in.subjects {
			for _, r := range in.rules {
				out = append(out, Side{Statement: fmt.Sprintf(r, s)})
			}
		}
	}
	return out
}
