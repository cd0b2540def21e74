/** Fields inside of errors other than 400001: values that are in use, passwords and codes that are not right. */
export const TAKEN_WORDS = {
  'exists already': '已存在',
  'belongs to another user': '属于另一个用户',
  'is a member of the team already': '已是团队成员',
  'the team has this permission already': '团队已有此权限',
  'The password is wrong': '密码错误',
  'The code is wrong or was used before': '验证码错误或已使用过',
  'The code is wrong; is the clock of the device right?': '验证码错误；设备的时钟是否准确？',
  'What your authenticator app is checked against was lost: use a recovery code, or ask an administrator to reset it':
    '用于核对身份验证器应用的数据已丢失：请使用恢复码，或请管理员重置',
} as const;
