// tests/words_tool_test.cpp: texts and neighbours as a user types them.
#include <gtest/gtest.h>
#include <tests/run_tool.hpp>

namespace lemma {
namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// Eight mails of two classes in a folder.
void write_mails(const Folder& in) {
  for (const char* each : {"mails/ham", "mails/spam", "new"}) std::filesystem::create_directories(in.path(each));
  const std::string ham[] = {"See you at the meeting", "Lunch at noon, the usual menu", "Minutes of the meeting",
                             "See the menu"};
  const std::string spam[] = {"Win money now", "Free money, no cost", "Cheap watches, free delivery",
                              "Win free watches"};
  for (int i = 0; i < 4; ++i) {
    in.write("mails/ham/" + std::to_string(i) + ".txt", "Subject: hello zebra\n\n" + ham[i]);
    in.write("mails/spam/" + std::to_string(i) + ".txt", "Subject: hello zebra\n\n" + spam[i]);
  }
}

TEST(WordsTool, AFolderOfMailsIsFittedJudgedAndVerified) {
  const Folder in;
  write_mails(in);
  const auto fitted = in.lemma("fit naive_bayes mails/ 'class ~ text(body, mail = TRUE)' -o m.lemma");
  EXPECT_EQ(fitted.code, 0) << fitted.err;
  EXPECT_TRUE(contains(fitted.out, "8 rows")) << fitted.out;
  EXPECT_FALSE(contains(fitted.out, "zebra")) << fitted.out;
  EXPECT_EQ(in.lemma("verify m.lemma mails").code, 0);
  const auto judged = in.lemma("evaluate m.lemma mails/ --json");
  EXPECT_EQ(judged.code, 0) << judged.err;
  in.write("new/a.txt", "free money");
  in.write("new/b.txt", "");
  const auto said = in.lemma("predict m.lemma new");
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_TRUE(contains(said.out, "spam,")) << said.out;
  EXPECT_TRUE(contains(said.out, "0.5,0.5")) << said.out;  // of an empty text the prior is left
}

TEST(WordsTool, OtherMethodsTakeTextsToo) {
  const Folder in;
  write_mails(in);
  for (const char* method : {"logistic", "linear_svm", "svm", "tree", "knn", "'pca(components=2) | lda'"}) {
    const auto fitted = in.lemma(std::string("fit ") + method +
                                 " mails 'class ~ text(body, weight = \"tfidf\", mail = TRUE)' -o m.lemma");
    EXPECT_TRUE(fitted.code == 0 || fitted.code == 1) << method << fitted.err;
    EXPECT_EQ(in.lemma("predict m.lemma mails").code, 0) << method;
  }
}

TEST(WordsTool, FoldsLearnTheirOwnWords) {
  const Folder in;
  write_mails(in);
  const auto crossed = in.lemma("cross naive_bayes mails 'class ~ text(body)' --folds 4");
  EXPECT_EQ(crossed.code, 0) << crossed.err;
}

TEST(WordsTool, SaysWhichFileIsNoText) {
  const Folder in;
  write_mails(in);
  in.write("mails/ham/9.txt", std::string("a\0b", 3));
  const auto refused = in.lemma("fit naive_bayes mails 'class ~ text(body)'");
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "ham/9.txt is no text")) << refused.err;
}

TEST(PredictTool, ExplainsWhatEachColumnAdds) {
  const Folder in;
  in.lemma("fit naive_bayes iris 'species ~ .' -o m.lemma");
  const auto said = in.lemma("predict m.lemma iris --rows 71 --digits 3 --explain");
  EXPECT_TRUE(contains(said.out, "class,adds_sepal_length,")) << said.out << said.err;
  in.lemma("fit boost boston 'medv ~ rm + lstat' --rounds 5 -o b.lemma");
  EXPECT_TRUE(contains(in.lemma("predict b.lemma boston --rows 1 --explain").out, "shap"));
  in.lemma("fit lda iris 'species ~ .' -o l.lemma");
  const auto none = in.lemma("predict l.lemma iris --explain");
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(contains(none.err, "lda does not say what each column adds")) << none.err;
}

TEST(NeighborsTool, ListsTheNearestRowsOfEachQuery) {
  const Folder in;
  in.write("d.csv", "a,b,name\n0,0,p\n3,4,q\n0,1,r\n");
  in.write("q.csv", "b,a\n0,0.5\n");
  const auto found = in.lemma("neighbors d.csv q.csv --k 2 --quiet");
  EXPECT_EQ(found.code, 0) << found.err;
  EXPECT_TRUE(contains(found.out, "query,rank,row,distance\n1,1,1,0.5\n1,2,3,1.118")) << found.out;
  const auto own = in.lemma("neighbors d.csv --k 1 --id name --quiet");
  EXPECT_EQ(own.out, "of,rank,row,distance\np,1,r,1\nq,1,r,4.242640687119285\nr,1,p,1\n") << own.err;
  const auto near = in.lemma("neighbors d.csv --within 1 --structure kd_tree --quiet");
  EXPECT_EQ(near.out, "of,rank,row,distance\n1,1,3,1\n3,1,1,1\n") << near.err;
  const auto mixed = in.lemma("neighbors d.csv --k 1 --metric gower --quiet");
  EXPECT_EQ(mixed.code, 0) << mixed.err;
}

TEST(NeighborsTool, SaysWhatItCannotCompare) {
  const Folder in;
  in.write("d.csv", "name\np\nq\np\n");
  EXPECT_TRUE(contains(in.lemma("neighbors d.csv").err, "no column of numbers"));
  in.write("e.csv", "a,b\n1,2\n2,3\n");
  EXPECT_TRUE(contains(in.lemma("neighbors e.csv --metric euclidian").err, "euclidean"));
  EXPECT_TRUE(contains(in.lemma("neighbors e.csv --formula 'a ~ b'").err, "none is predicted"));
  EXPECT_EQ(in.lemma("neighbors e.csv --k 0").code, 2);
  EXPECT_EQ(in.lemma("neighbors e.csv --recall 1.5").code, 2);
  const auto most = in.lemma("neighbors e.csv --k 1 --structure projections --json");
  EXPECT_TRUE(contains(most.out, "\"recall\": 1")) << most.out << most.err;
}

}  // namespace
}  // namespace lemma
